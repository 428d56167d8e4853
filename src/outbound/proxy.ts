/** Asks a proxy, which the operator named for us, for a way through to a host. */
import { isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { TidemarkError } from "../errors.ts";

/** The head of a proxy's answer may be as long as this. */
const HEAD_BYTES_MAX = 16 * 1024;
/** Names that mean something near the proxy, and nothing on the open Internet (RFC 6761, 6762, 8375, and ICANN's "internal"). */
const near_names = /(^|\.)(localhost|local|internal|home\.arpa|lan|test|invalid|onion)$/;

export interface NamedProxy {
  host: string;
  port: number;
  /** Whether the proxy itself is spoken to through TLS. */
  secure: boolean;
  authorization: string | null;
}

/** Reads what TIDEMARK_PROXY says, which was checked to be an http or https URL. */
export function readProxy(text: string): NamedProxy {
  const url = new URL(text);
  const secure = url.protocol === "https:";
  const credentials = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  return {
    host: url.hostname.replace(/^\[|\]$/g, ""),
    port: Number(url.port || (secure ? 443 : 80)),
    secure,
    authorization: url.username ? `Basic ${Buffer.from(credentials).toString("base64")}` : null,
  };
}

/** Throws for a name without an address here that a proxy would look for in its own neighbourhood. */
export function checkFarName(name: string): void {
  const plain = name.replace(/\.$/, "").toLowerCase();
  if (plain.includes(".") && !near_names.test(plain)) return;
  throw new TidemarkError(
    "OutboundForbidden",
    `${name} has no address here and is no name of the open Internet, so the proxy is not asked for it.`,
    { details: { host: name } },
  );
}

/** The socket to the proxy, through TLS where it wants that. */
export function secured(socket: Socket, proxy: NamedProxy, ca: string | undefined): Promise<Socket> {
  if (!proxy.secure) return Promise.resolve(socket);
  return new Promise((resolve, reject) => {
    const named = isIP(proxy.host) ? {} : { servername: proxy.host };
    const tls = connectTls({ socket, host: proxy.host, ...named, ...(ca === undefined ? {} : { ca }) });
    tls.once("error", reject);
    tls.once("secureConnect", () => {
      tls.off("error", reject);
      resolve(tls);
    });
  });
}

/** Resolves when what is written to the socket next reaches `host`. The proxy is told the name, and looks it up itself. */
export function tunnelled(socket: Socket, proxy: NamedProxy, host: string, port: number): Promise<void> {
  const target = `${host.includes(":") ? `[${host}]` : host}:${port}`;
  const authorization = proxy.authorization === null ? "" : `Proxy-Authorization: ${proxy.authorization}\r\n`;
  return new Promise((resolve, reject) => {
    let head = "";
    const end = (failure: Error | null) => {
      socket.off("data", read);
      socket.off("error", end);
      socket.off("close", closed);
      if (failure) reject(failure);
      else resolve();
    };
    const closed = () => end(new TidemarkError("UpstreamDown", `The proxy closed the connection meant for ${host}.`));
    const read = (part: Buffer) => {
      head += part.toString("latin1");
      const at = head.indexOf("\r\n\r\n");
      if (at >= 0) {
        socket.pause();
        // Whoever is behind it speaks only when spoken to: anything more is not theirs.
        if (head.length > at + 4) return end(unreadable(host));
        return end(refusal(head, host));
      }
      if (head.length > HEAD_BYTES_MAX) end(unreadable(host));
    };
    socket.on("data", read);
    socket.once("error", end);
    socket.once("close", closed);
    socket.write(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n${authorization}\r\n`);
  });
}

function refusal(head: string, host: string): TidemarkError | null {
  const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(head)?.[1] ?? Number.NaN);
  if (status >= 200 && status < 300) return null;
  if (Number.isNaN(status)) return unreadable(host);
  const details = { host, proxy_status: status };
  if (status === 407)
    return new TidemarkError(
      "UpstreamDown",
      "The proxy wants a user name and password that it did not get. Write them into TIDEMARK_PROXY: http://user:password@host:port.",
      { details },
    );
  if (status === 403 || status === 405)
    return new TidemarkError(
      "OutboundForbidden",
      `The proxy does not let ${host} be called (HTTP ${status}). Whoever runs it has to allow CONNECT to it.`,
      { details },
    );
  return new TidemarkError("UpstreamDown", `The proxy did not reach ${host} (HTTP ${status}).`, { details });
}

const unreadable = (host: string) =>
  new TidemarkError("UpstreamDown", `The proxy's answer about ${host} is not HTTP, so it is no proxy or a broken one.`);
