/** The frame of every page: where one can go, whether what is shown is live, and the page itself. */
import { useEffect, useRef } from "preact/hooks";
import type { Demo } from "./answers.ts";
import { DemoPage } from "./demo-page.tsx";
import { FollowPage } from "./follow-page.tsx";
import { type Live, listen, live, tryNow } from "./live.ts";
import { OverviewPage } from "./overview-page.tsx";
import { useReading } from "./reading.ts";
import { ResourcePage } from "./resource-page.tsx";
import { type Route, routeTo, toSource, useRoute } from "./route.ts";
import { Saying } from "./saying.tsx";
import { Loading } from "./small.tsx";
import { SourcePage } from "./source-page.tsx";
import { useStore } from "./store.ts";
import { useTicking } from "./ticking.ts";
import { TokenDialog, TokenForm } from "./token-dialog.tsx";

export function App() {
  const route = useRoute();
  const now = useStore(live);
  useTicking();
  useEffect(() => {
    const end = new AbortController();
    void listen(end.signal);
    return () => end.abort();
  }, []);
  if (now.link === "locked") return <Locked sentence={now.failure?.message ?? ""} />;
  return (
    <>
      <Head route={route} now={now} />
      <LinkNotice now={now} />
      <Page route={route} />
      <Foot now={now} />
      <Saying />
      <TokenDialog />
    </>
  );
}

function Locked({ sentence }: { sentence: string }) {
  return (
    <main class="locked">
      <h1>Tidemark</h1>
      <TokenForm sentence={sentence} given={tryNow} />
    </main>
  );
}

function Head({ route, now }: { route: Route; now: Live }) {
  const demo = useReading<Demo>("/api/demo");
  const [first, second] = route.path;
  const here = (is: boolean) => (is ? { "aria-current": "page" as const } : {});
  const source = first === "sources" || first === "resources" ? second : null;
  return (
    <header class="head">
      <button type="button" class="skip" onClick={() => document.querySelector("main")?.focus()}>
        Skip to the page
      </button>
      <a class="name" href="#/" aria-label="Tidemark, overview">
        <svg viewBox="0 0 24 14" aria-hidden="true">
          <path d="M1 4.5c3.7-4 7.3-4 11 0s7.3 4 11 0M1 11c3.7-4 7.3-4 11 0s7.3 4 11 0" />
        </svg>
        Tidemark
      </a>
      <nav class="ways" aria-label="Pages">
        <a href="#/" {...here(first === undefined)}>
          Overview
        </a>
        {now.status?.sources.map((one) => (
          <a key={one.source} href={toSource(one.source)} {...here(one.source === source)}>
            {one.source}
          </a>
        ))}
        {(demo.value?.actions.length ?? 0) > 0 && (
          <a href="#/demo" {...here(first === "demo")}>
            Demo
          </a>
        )}
        <a class="follow" href={routeTo(["follow"], { source })} {...here(first === "follow")}>
          Follow …
        </a>
      </nav>
      <LinkState now={now} />
    </header>
  );
}

const link_words = { live: "live", connecting: "connecting …", lost: "not connected", locked: "locked" };

function LinkState({ now }: { now: Live }) {
  return (
    <p class={`link ${now.link}`} role="status">
      {link_words[now.link]}
    </p>
  );
}

/** What is on the page may be old: say so, and since when. */
function LinkNotice({ now }: { now: Live }) {
  if (now.link !== "lost") return null;
  const since = now.status === null ? "" : ` What you see is from ${now.status.now.slice(11, 19)} UTC.`;
  return (
    <div class="notice bad lost" role="alert">
      <p>
        {now.failure && now.failure.status > 0 ? now.failure.message : "The server does not answer."}
        {since} It is tried again by itself; what happened in the meantime is read then.
      </p>
      <button type="button" onClick={tryNow}>
        Try now
      </button>
    </div>
  );
}

/** One page; the focus goes to it, so that keyboards and screen readers begin there. */
function Page({ route }: { route: Route }) {
  const main = useRef<HTMLElement>(null);
  const shown = useRef<string | null>(null);
  const name = route.path.join("/");
  useEffect(() => {
    document.title = route.path.length === 0 ? "Tidemark" : `${route.path.slice(1).join(" ") || name} · Tidemark`;
    if (shown.current !== null && shown.current !== name) {
      main.current?.focus();
      scrollTo(0, 0);
    }
    shown.current = name;
  }, [name, route.path]);
  return (
    <main ref={main} tabIndex={-1}>
      {pageOf(route)}
    </main>
  );
}

function pageOf({ path, query }: Route) {
  const [page, ...names] = path;
  if (page === undefined) return <OverviewPage />;
  if (page === "demo") return <DemoPage />;
  if (page === "follow") return <FollowPage source={query.get("source")} />;
  const [source, kind, key] = names;
  if (page === "sources" && source !== undefined)
    return <SourcePage source={source} view={kind ?? null} query={query} />;
  if (page === "resources" && source !== undefined && kind !== undefined && key !== undefined)
    return <ResourcePage source={source} kind={kind} name={key} />;
  return (
    <>
      <h1>There is no such page</h1>
      <p>
        The address may have been cut off. <a href="#/">The overview</a> leads to everything there is.
      </p>
    </>
  );
}

function Foot({ now }: { now: Live }) {
  const { status } = now;
  if (status === null) return now.link === "connecting" ? <Loading what="the status" /> : null;
  return (
    <footer class="foot">
      Tidemark {status.version} on {status.database === "embedded" ? "the embedded database" : "PostgreSQL"}
      {status.estimated && ". Counts are estimates from a sample"}. The same for programs:{" "}
      <a href="/api/status">/api/status</a>, <a href="/openapi.json">/openapi.json</a>, <a href="/metrics">/metrics</a>.
    </footer>
  );
}
