/** A page that is due as the guestbook knows it, and what a visit made of it. */
import type { Block } from "./content.ts";

export interface DuePage {
  page_id: bigint;
  scheme: "http" | "https";
  path: string;
  etag: string | null;
  modified: string | null;
  status: number;
  failures: number;
  depth: number;
  extractor: number;
  unchanged: number;
  interval_s: number;
  noindex: boolean;
  canonical: string | null;
  reason: string | null;
  content_hash: Uint8Array | null;
  has_content: boolean;
}

export interface Visit {
  page: DuePage;
  status: number;
  failures: number;
  interval_ms: number;
  /** Null: not again by itself. */
  wait_ms: number | null;
  extractor: number;
  unchanged: number;
  noindex: boolean;
  etag: string | null;
  modified: string | null;
  last_modified_ms: number | null;
  content_type: string | null;
  content_length: number;
  canonical: string | null;
  reason: string | null;
  hash: Uint8Array | null;
  /** What is stored is true as of now. */
  confirmed: boolean;
  /** What to store in the place of what is stored; null leaves that. */
  blocks: Block[] | null;
  /** Addresses as they were found, made whole. */
  links: string[];
}
