/** What is in the pretend GitHub, the same each time: an organisation, repositories of others, and the next push. */
import type { GitHub } from "./github/hub.ts";

export const OWNER = "acme";
export const TOKEN = "demo-token";
/** Repositories of others, followed by name. */
export const NAMED = ["globex/orders", "initech/reports", "umbrella/vault"];

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

/** The go.mod of "acme/x", or of what lies in it. */
export const gomod = (name: string) => ({ "go.mod": `module github.com/${name}\n\ngo 1.24\n` });

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
      for (let minor = 0, most = 1 + Math.floor(random() * 8); minor < most; minor += 1) {
        hub.now_ms += Math.floor(random() * DAY_MS);
        hub.push(name, `v1.${minor}.0`, { files: gomod(name), annotated: random() < 0.3 ? 1 : 0 });
      }
      if (form === "-kit") {
        const files = { ...gomod(name), "otel/go.mod": `module github.com/${name}/otel\n` };
        hub.push(name, "otel/v0.1.0", { files, commit: "otel" });
      }
      if (form === "-client") hub.push(name, "v2.0.0", { files: gomod(`${name}/v2`) });
      living.push(name);
    }
  odd(hub);
  for (const name of NAMED) {
    hub.repository(name);
    for (const tag of ["v0.1.0", "v0.2.0"]) hub.push(name, tag, { files: gomod(name) });
  }
  hub.now_ms = now_ms;
  return living;
}

function odd(hub: GitHub): void {
  hub.repository(`${OWNER}/handbook`);
  hub.repository(`${OWNER}/legacy`, { isArchived: true });
  hub.push(`${OWNER}/legacy`, "v3.1.0");
  hub.repository(`${OWNER}/secrets`, { isPrivate: true });
  hub.push(`${OWNER}/secrets`, "v0.3.0", { files: gomod(`${OWNER}/secrets`) });
  hub.repository(`${OWNER}/ledger-moved`);
  // Two repositories that declare one path: a conflict to be seen.
  hub.push(`${OWNER}/ledger-moved`, "v1.0.0", { files: gomod(`${OWNER}/ledger`) });
}

/** Pushes the next patch release of a repository. */
export function pushOne(hub: GitHub, name: string, no: number): string {
  const tag = `v1.90.${no}`;
  hub.push(name, tag, { files: gomod(name) });
  return `${tag} of ${name}`;
}
