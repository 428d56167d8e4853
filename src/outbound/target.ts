/** Reads the address of a call: an http or https URL without credentials in it, as every later step sees it. */
import { TidemarkError } from "../errors.ts";

/**
 * The URL, in the one spelling that is checked and then connected to: "http://0x7f.1" has become http://127.0.0.1 here, and
 * what hides before an @ is gone. No sentence repeats the text, since it may hold a secret.
 */
export function readTarget(text: string): URL {
  if (!URL.canParse(text))
    throw new TidemarkError("InputInvalid", "The address to call is not a URL. Write it as https://example.com/path.");
  const url = new URL(text);
  checkTarget(url);
  if (url.username || url.password)
    throw new TidemarkError(
      "InputInvalid",
      `The address to call on ${url.host} has a user name or password in it. Send credentials in a header instead.`,
    );
  return url;
}

/** Where a redirect leads, credentials taken out; null when its `location` is not a URL. */
export function readLocation(location: string, from: URL): URL | null {
  if (!URL.canParse(location, from.href)) return null;
  const url = new URL(location, from);
  url.username = "";
  url.password = "";
  url.hash = "";
  return url;
}

/** Only web addresses are called, and never port 0, which means "whichever" to some and nothing to others. */
export function checkTarget(url: URL): void {
  if (url.protocol !== "http:" && url.protocol !== "https:")
    throw new TidemarkError(
      "OutboundForbidden",
      `Only http and https are called, not ${url.protocol.slice(0, 20)} addresses.`,
    );
  if (url.port === "0")
    throw new TidemarkError("OutboundForbidden", `Port 0 of ${url.hostname} is not called: it is no port.`);
}

export const portOf = (url: URL): number => Number(url.port || (url.protocol === "https:" ? 443 : 80));

/** The host as a resolver or a socket wants it: an IPv6 address without its brackets. */
export const hostOf = (url: URL): string => url.hostname.replace(/^\[|\]$/g, "");
