/** How fast pages are found among many: words that are rare, in one of a hundred, in one of ten, and everywhere. */
import sql from "sql-template-tag";
import { type Db, openStore } from "../src/index.ts";
import { prepareDomain } from "../src/sources/web/numbers.ts";
import { searchPages } from "../src/sources/web/search.ts";
import { web } from "../src/sources/web/source.ts";
import { engineFolder, migrate, readMigrations } from "../src/store/migrate.ts";
import { table } from "./table.ts";

const DOMAINS = 64;
const AT_ONCE = 20_000;
const terms = ["rareword", "onepercent", "tenpercent", "everywhere"];

const percentile = (all: number[], part: number): number =>
  all.toSorted((a, b) => a - b)[Math.min(all.length - 1, Math.floor(all.length * part))]!;
const rounded = (ms: number): number => Math.round(ms * 10) / 10;

/** Pages of some sixty words over 64 domains, put where the crawl would put them. */
async function fill(db: Db, pages: number): Promise<void> {
  await migrate(db, [await readMigrations("tidemark", engineFolder), { owner: "web", ...web().migrations! }]);
  for (let n = 1; n <= DOMAINS; n += 1) {
    await prepareDomain(db, { tld: "gov", domain: `d${n}`, subdomain: "" }, []);
    await db.query(sql`
      insert into web.host (host_id, resource_id, domain64, host) select ${n}::int, ${n}::bigint, (1::bigint << 56) | (d.domain_no::bigint << 32), d.domain || '.gov'
        from web.domain d where d.domain = ${`d${n}`}`);
  }
  for (let from = 1; from <= pages; from += AT_ONCE) {
    await db.query(sql`
      with made as (
        select n, 1 + n % ${DOMAINS}::int as host_id,
               'everywhere ' || case when n % 10 = 3 then 'tenpercent ' else '' end || case when n % 100 = 7 then 'onepercent ' else '' end
               || case when n % 10000 = 9 then 'rareword ' else '' end
               || (select string_agg('w' || floor(exp(((n * 7919 + i * 104729) % 100003) / 100003.0 * ln(20000)))::int, ' ') from generate_series(1, 60) i) as said
          from generate_series(${from}::int, ${Math.min(pages, from + AT_ONCE - 1)}::int) as n
      ), book as (
        insert into web.guestbook (page_id, resource_id, domain64, next_fetch, host_id, interval_s, path, status, content_hash, last_fetched)
        select m.n, m.host_id, h.domain64, 'infinity', m.host_id, 86400, '/p' || m.n, 200, decode(lpad(to_hex(m.n), 32, '0'), 'hex'), tidemark.now()
          from made m join web.host h on h.host_id = m.host_id returning page_id
      ), content as (
        insert into web.content (page_id, resource_id, tags, texts) select n, host_id, array[1, 2], array['Page ' || n, said] from made
      )
      insert into web.search (domain64, page_id, part, words)
      select h.domain64, m.n, 0, setweight(to_tsvector('english', 'Page ' || m.n), 'A') || to_tsvector('english', m.said) from made m join web.host h on h.host_id = m.host_id`);
    process.stdout.write(`\r${Math.min(pages, from + AT_ONCE - 1)} pages to search …`);
  }
  process.stdout.write("\n");
  await db.query(sql`vacuum analyze web.search`);
  await db.query(sql`analyze`);
}

async function times(count: number, work: (n: number) => Promise<unknown>): Promise<number[]> {
  const all: number[] = [];
  await work(0);
  for (let n = 0; n < count; n += 1) {
    const begun = performance.now();
    await work(n);
    all.push(performance.now() - begun);
  }
  return all;
}

export async function measureSearch(url: string, pages: number, count: number): Promise<object> {
  const db = await openStore({ database_url: url, data: "" });
  try {
    await fill(db, pages);
    const ask = (q: string, scope: string[]) => searchPages(db, { q, scope, after: null, limit: 10 });
    const naive = (q: string) =>
      db.query(sql`
        select s.page_id from web.search s where s.words @@ websearch_to_tsquery('english', ${q})
         order by ts_rank(s.words, websearch_to_tsquery('english', ${q})) desc limit 10`);
    const rows: string[][] = [];
    const whole: number[] = [];
    const inside: number[] = [];
    let vs_naive = 0;
    for (const term of terms) {
      const all = await times(count, () => ask(term, []));
      const one = await times(count, (n) => ask(term, ["gov", `d${1 + (n % DOMAINS)}`]));
      const plain = await times(Math.max(3, Math.ceil(count / 10)), () => naive(term));
      whole.push(percentile(all, 0.95));
      inside.push(percentile(one, 0.95));
      vs_naive = percentile(plain, 0.5) / percentile(all, 0.5);
      rows.push([
        term,
        ...[all, one, plain].flatMap((list) =>
          [rounded(percentile(list, 0.5)), rounded(percentile(list, 0.95))].map(String),
        ),
        vs_naive.toFixed(1),
      ]);
    }
    const heads = ["word", "whole p50 ms", "p95", "domain p50 ms", "p95", "plain ts_rank p50 ms", "p95", "times"];
    process.stdout.write(`${table("Searches", heads, rows)}\n`);
    return {
      search_p95_ms: rounded(Math.max(...whole)),
      search_domain_p95_ms: rounded(Math.max(...inside)),
      search_vs_naive: Math.round(vs_naive * 10) / 10,
    };
  } finally {
    await db.close();
  }
}
