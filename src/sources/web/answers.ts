/** What the mirror answers, as its readers and the dashboard see it. */

export interface Suggestion {
  q: string;
  in: string | null;
  why: string;
}

export interface SearchAnswer {
  results: {
    url: string;
    title: string;
    /** HTML in which everything is escaped but <mark>. */
    snippet: string;
    host: string;
    domain64: string;
    content_type: string;
    score: number;
    last_modified: string | null;
    changed_at: string | null;
    fresh_at: string | null;
  }[];
  /** How many pages match; `exact` where all were counted. */
  total: { pages: number; exact: boolean };
  /** Of how many the best are shown; `capped` where there were more. */
  ranked: { pages: number; capped: boolean };
  suggestions: Suggestion[];
  next: string | null;
  fresh_at: string | null;
}

export interface HostListing {
  host: string;
  domain64: string;
  known: number;
  fetched: number;
  refused: number;
  delay_ms: number;
  crawl_delay_ms: number | null;
  robots_status: number | null;
  robots_at: string | null;
  status: string;
  fresh_at: string | null;
  next_at: string | null;
}

export interface PageListing {
  path: string;
  url: string;
  status: number;
  title: string | null;
  reason: string | null;
  last_fetched: string | null;
  last_changed: string | null;
  next_fetch: string | null;
  interval_s: number;
  found: boolean;
}
