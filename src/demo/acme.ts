/** An organisation in the pretend GitHub, the same each time, and the pushes that go on in it while one looks. */
import type { GitHub } from "./github/hub.ts";

export const OWNER = "acme";
export const TOKEN = "demo-token";

const THINGS = ["auth", "billing", "cache", "config", "events", "gateway", "ledger", "mail", "queue", "search"];
const FORMS = ["", "-api", "-client", "-kit"];
const DAY_MS = 86_400_000;

/** Numbers in [0, 1), the same for the same seed. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = Math.imul(state ^ (state >>> 15), state | 1) ^ (state + Math.imul(state ^ (state >>> 7), state | 61));
    return ((state ^ (state >>> 14)) >>> 0) / 2 ** 32;
  };
}

const gomod = (path: string) => ({ "go.mod": `module ${path}\n\ngo 1.24\n` });

/** Fills the organisation: plain modules, sub-modules, major versions, and one of everything odd. Returns what gets pushes later. */
export function fillAcme(hub: GitHub, now_ms: number): string[] {
  hub.now_ms = now_ms - 400 * DAY_MS;
  hub.account("demo", { token: TOKEN, member: [OWNER] });
  const random = numbers(20_261_116);
  const living: string[] = [];
  for (const thing of THINGS)
    for (const form of FORMS) {
      const name = `${OWNER}/${thing}${form}`;
      hub.repository(name);
      const path = `github.com/${name}`;
      for (let minor = 0, most = 1 + Math.floor(random() * 8); minor < most; minor += 1) {
        hub.now_ms += Math.floor(random() * DAY_MS);
        hub.push(name, `v1.${minor}.0`, { files: gomod(path), annotated: random() < 0.3 ? 1 : 0 });
      }
      if (form === "-kit") {
        const files = { ...gomod(path), "otel/go.mod": `module ${path}/otel\n` };
        hub.push(name, "otel/v0.1.0", { files, commit: "otel" });
      }
      if (form === "-client") hub.push(name, "v2.0.0", { files: gomod(`${path}/v2`) });
      living.push(name);
    }
  odd(hub);
  hub.now_ms = now_ms;
  return living;
}

function odd(hub: GitHub): void {
  hub.repository(`${OWNER}/handbook`);
  hub.repository(`${OWNER}/legacy`, { isArchived: true });
  hub.push(`${OWNER}/legacy`, "v3.1.0");
  hub.repository(`${OWNER}/secrets`, { isPrivate: true });
  hub.push(`${OWNER}/secrets`, "v0.3.0", { files: gomod(`github.com/${OWNER}/secrets`) });
  hub.repository(`${OWNER}/ledger-moved`);
  // Two repositories that declare one path: a conflict to be seen.
  hub.push(`${OWNER}/ledger-moved`, "v1.0.0", { files: gomod(`github.com/${OWNER}/ledger`) });
}

/** Pushes the next patch release to one of them. */
export function pushOne(hub: GitHub, living: string[], no: number): string {
  const name = living[(no * 7) % living.length]!;
  const tag = `v1.90.${no}`;
  hub.push(name, tag, { files: gomod(`github.com/${name}`) });
  return `${name} ${tag}`;
}
