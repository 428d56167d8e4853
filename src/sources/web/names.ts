/** Names of hosts: what a person types, and which top-level domain, domain and subdomain a name belongs to. */
import { isIP } from "node:net";
import { domainToASCII } from "node:url";
import { parse } from "tldts";

export interface HostParts {
  tld: string;
  domain: string;
  /** "" for the domain itself. */
  subdomain: string;
}

/** Where names without a public suffix are: addresses, and machines of one's own network. */
const LOCAL = "local";

/**
 * By public suffixes: of www.example.co.uk the top-level domain is uk, the domain example.co, the subdomain www. Labels of a subdomain
 * stay together however many they are.
 */
export function partsOf(host: string): HostParts {
  const name = nameOf(host);
  const { domain, subdomain } = parse(name, { allowPrivateDomains: true, validateHostname: false });
  if (isIP(name.replace(/^\[|\]$/g, "")) !== 0 || domain === null || !domain.includes("."))
    return { tld: LOCAL, domain: name, subdomain: "" };
  const cut = domain.lastIndexOf(".");
  return { tld: domain.slice(cut + 1), domain: domain.slice(0, cut), subdomain: subdomain ?? "" };
}

/** Hosts of one registrable domain are one site: most often one machine room. */
export function siteOf(host: string): string {
  const { tld, domain } = partsOf(host);
  return tld === LOCAL ? domain : `${domain}.${tld}`;
}

/** A host without its port. */
export const nameOf = (host: string): string => host.replace(/:\d+$/, "");

const LABEL = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/;

export type Typed = { kind: "host" | "domain"; key: string } | string;

/** `www.gsa.gov`, `https://www.gsa.gov/`, `localhost:8000` or `*.nih.gov`; a sentence where it is none of these. */
export function readTyped(text: string): Typed {
  const wild = text.startsWith("*.");
  const typed = text.replace(/^\*\./, "").replace(/^https?:\/\//i, "");
  const [authority = "", ...rest] = typed.split("/");
  if (rest.join("") !== "" || /[?#]/.test(typed))
    return `"${text}" is a page; hosts are followed whole, such as ${authority || "www.gsa.gov"}.`;
  if (authority.includes("@")) return "A host with a name or a password before it cannot be followed.";
  const url = URL.canParse(`http://${authority}/`) ? new URL(`http://${authority}/`) : null;
  const host = url?.hostname.replace(/\.$/, "") ?? "";
  const labels = host.split(".");
  const good =
    isIP(host.replace(/^\[|\]$/g, "")) !== 0 || (host.length <= 253 && labels.every((one) => LABEL.test(one)));
  if (!url || !good || domainToASCII(host) === "")
    return `"${text}" is not a host such as www.gsa.gov, nor all hosts of a domain such as *.nih.gov.`;
  if (!wild) return { kind: "host", key: url.port === "" ? host : `${host}:${url.port}` };
  const { tld } = partsOf(host);
  if (tld === LOCAL || siteOf(host) !== host)
    return `"${text}" cannot be followed: after *. comes a domain such as nih.gov, with nothing before it${tld === LOCAL ? "" : ` (here: *.${siteOf(host)})`}.`;
  if (url.port !== "") return `"${text}" cannot be followed: all hosts of a domain have no port in common.`;
  return { kind: "domain", key: host };
}
