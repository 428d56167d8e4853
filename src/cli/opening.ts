/** Finds the API for a command: of the server that holds the embedded database, or else of one inside this process. */
import type { Clock } from "../clock.ts";
import { hasCode } from "../errors.ts";
import { Api, remote } from "./api.ts";
import { readServerFile } from "./server-file.ts";
import type { Settings, Shell, SourceOptions } from "./shell.ts";

const ASK_MS_MAX = 2_000;
/** The first start makes the embedded database, which takes seconds, and on a busy machine many. */
const STARTING_MS_MAX = 30_000;
const SAY_AFTER_MS = 1_000;
const LOOK_AGAIN_MS = 250;

/** Opens the API for one piece of work. */
export async function withApi<T>(shell: Shell, options: SourceOptions, work: (api: Api) => Promise<T>): Promise<T> {
  const api = await openApi(shell, await shell.settings(options.source ?? []));
  try {
    return await work(api);
  } finally {
    await api.close();
  }
}

async function openApi(shell: Shell, settings: Settings): Promise<Api> {
  const { config } = settings;
  const begun = shell.clock.elapsed_ms();
  let said = false;
  for (;;) {
    const server = config.database_url === null ? await readServerFile(config.data) : null;
    if (server && (await answers(server.url, shell.clock))) return remote(server.url, config.admin_token);
    try {
      const { request, close } = await shell.inside(settings);
      return new Api("this process", request, close);
    } catch (thrown) {
      // Whoever holds the database may have just been started, and says in a moment where it answers.
      const waited_ms = shell.clock.elapsed_ms() - begun;
      if (!hasCode(thrown, "StoreLocked") || waited_ms > STARTING_MS_MAX) throw thrown;
      if (!said && waited_ms > SAY_AFTER_MS) {
        shell.output.note(`Waiting for process ${thrown.details.pid}, which has the database, to answer …`);
        said = true;
      }
      await shell.clock.sleep(LOOK_AGAIN_MS);
    }
  }
}

/** A process that was killed leaves its file behind. */
export async function answers(url: string, clock: Clock): Promise<boolean> {
  const late = new AbortController();
  const done = new AbortController();
  void clock.sleep(ASK_MS_MAX, done.signal).then(() => late.abort());
  try {
    return (await fetch(`${url}/healthz`, { signal: late.signal })).ok;
  } catch {
    return false;
  } finally {
    done.abort();
  }
}
