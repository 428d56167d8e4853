/** What a caller says about one call, what it gets back, and the limits where it says nothing. */
import type { Address } from "./guard.ts";

/** All of them are kept by the clock that the client was given. */
export interface Timeouts {
  /** Finding the address, and the connection with its TLS; each of the two. */
  connect_ms: number;
  /** From the request being sent to the end of the answer's head. */
  headers_ms: number;
  /** The longest silence in the middle of a body. */
  body_ms: number;
  /** From the call to the last byte, redirects and waiting for a connection included; it ends what drips for ever. */
  whole_ms: number;
}

export const TIMEOUTS: Readonly<Timeouts> = {
  connect_ms: 10_000,
  headers_ms: 30_000,
  body_ms: 30_000,
  whole_ms: 60_000,
};

/** Both for what arrives and for what it becomes when decompressed. */
export const BYTES_MAX = 32 * 1024 * 1024;
export const REDIRECTS_MAX = 5;

/**
 * Which redirects are followed. One that is not is the answer itself: its `location` says where it led. More than `most`
 * in a row are UpstreamChanged.
 */
export type Redirects =
  | { follow: "none" }
  /** To the same host name; scheme and port may differ. */
  | { follow: "same host"; most?: number }
  /** Among the hosts listed, or where the caller says yes. */
  | { follow: "same site"; site: readonly string[] | ((from: URL, to: URL) => boolean); most?: number }
  | { follow: "any"; most?: number };

/** Where a host is, looked up and checked for one call. */
export interface Found {
  readonly origin: string;
  /** None where only the proxy can look its name up. */
  readonly addresses: readonly Address[];
  readonly through_proxy: boolean;
}

export interface Call {
  /** GET unless said. */
  method?: string;
  headers?: Readonly<Record<string, string>>;
  body?: string | Uint8Array;
  /** Headers besides Authorization and Cookie that may never reach another host. */
  secret_headers?: readonly string[];
  /** None unless said. */
  redirects?: Redirects;
  timeouts?: Partial<Timeouts>;
  /** Of the body as it arrives. */
  wire_bytes_max?: number;
  /** Of the body after decompression. */
  bytes_max?: number;
  /** The body of an answer with status 200 goes into this file, which must not be there yet; then the answer's bytes are none. */
  save_to?: string;
  /** Sending it twice does no harm, although its method does not say so. */
  repeatable?: boolean;
  /** What `find` found a moment ago: where this call goes first is not looked up again. */
  found?: Found;
  /**
   * Asked when the connection stands, right before each request is written: of the call itself, of each redirect, and of a call that is
   * sent again. What it throws ends the call.
   */
  admit?(sending: Sending): Promise<void>;
  /** The host that the first request is for, where the URL says only how it is reached. */
  as_host?: string;
  /** Ends the call; its reason is what is thrown. */
  signal?: AbortSignal;
}

/** A request that is about to be written. */
export interface Sending {
  url: URL;
  /** How many requests of this call were written before. */
  sent: number;
  /** Aborted when the call is over. */
  signal: AbortSignal;
}

/** What became of one call, for whoever counts; no query and no secret is in it. */
export interface CallRecord {
  /** The host that was spoken to last, with its port where it is not the usual one. */
  host: string;
  /** 0 when there was no answer. */
  status: number;
  /** Bytes of the last body as they arrived, and after decompression. */
  wire_bytes: number;
  bytes: number;
  ms: number;
  /** Redirects that were followed. */
  redirects: number;
  /** Whom the connection was to; null when there was none. */
  remote_address: string | null;
  /** The call was sent a second time, because a connection that had been kept was closed under it. */
  repeated: boolean;
}

interface Head {
  status: number;
  /** Names in lower case; a header that came twice is joined with commas. As sent, so of the body before decompression. */
  headers: Record<string, string>;
  /** Where the answer came from in the end, without credentials. */
  url: string;
}

export interface OutboundAnswer extends Head {
  bytes: Uint8Array;
  record: CallRecord;
}

/** The decompressed body; read it to its end, leave the loop, or cancel it: until then it holds a connection. */
export interface StreamedBody extends AsyncIterable<Uint8Array> {
  cancel(): void;
}

export interface StreamedAnswer extends Head {
  body: StreamedBody;
  /** As it stands now; complete once the body has ended. */
  record(): CallRecord;
}
