/** A real Chromium over a real demo: one of each for the whole folder, with eyes on the console and on every request. */
import { randomUUID } from "node:crypto";
import { createServer } from "node:net";
import path from "node:path";
import chromium from "@sparticuz/chromium";
import { type Browser, type Page, chromium as playwright } from "playwright-core";
import { expect, inject, vi } from "vitest";
import { type Running, tidemark } from "../flows/processes.ts";

/** Generous: on a loaded machine a page takes its time. */
export const PATIENCE_MS = 180_000;

export class Rig {
  readonly data = path.join(inject("scratch"), randomUUID());
  readonly #port: number;
  readonly #browser: Browser;
  #server: Running | null = null;
  /** What pages complained about; tests that provoke something take it out. */
  complaints: string[] = [];
  /** Requests to anybody but our server. */
  readonly outside: string[] = [];

  private constructor(port: number, browser: Browser) {
    this.#port = port;
    this.#browser = browser;
  }

  static async open(): Promise<Rig> {
    const executablePath = await chromium.executablePath();
    // As root there is no sandbox; the pages are our own.
    const args = ["--no-sandbox", "--font-render-hinting=none"];
    const rig = new Rig(await freePort(), await playwright.launch({ executablePath, args, headless: true }));
    await rig.start();
    // Everything is there before anybody looks, so that each test sees the same whichever runs.
    await vi.waitFor(
      async () => expect((await rig.api<{ versions: number }>("/go/status")).versions).toBeGreaterThan(200),
      { timeout: PATIENCE_MS, interval: 500 },
    );
    return rig;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Starts the demo, on the same port and the same data each time. */
  async start(settings: Record<string, string> = {}): Promise<void> {
    this.#server = tidemark(["up", "--demo"], {
      TIDEMARK_DATA: this.data,
      TIDEMARK_PORT: String(this.#port),
      ...settings,
    });
    await this.#server.says("Stop:    Ctrl-C");
  }

  async stop(): Promise<void> {
    this.#server?.signal("SIGTERM");
    await this.#server?.ended;
  }

  async close(): Promise<void> {
    await this.#browser.close();
    this.#server?.signal("SIGKILL");
    await this.#server?.ended;
  }

  /** A page of its own, as a reader has it; `hash` is where it begins. */
  async page(hash = "#/", look: { dark?: boolean; phone?: boolean; token?: string } = {}): Promise<Page> {
    const context = await this.#browser.newContext({
      locale: "en-GB",
      colorScheme: look.dark ? "dark" : "light",
      viewport: look.phone ? { width: 390, height: 844 } : { width: 1280, height: 900 },
    });
    context.setDefaultTimeout(PATIENCE_MS);
    const page = await context.newPage();
    page.on("console", (message) => {
      if (message.type() === "error" || message.type() === "warning") this.complaints.push(message.text());
    });
    page.on("pageerror", (error) => this.complaints.push(error.message));
    page.on("request", (request) => {
      if (!request.url().startsWith(this.url)) this.outside.push(request.url());
    });
    // As if it had been typed in earlier.
    if (look.token !== undefined) await page.addInitScript(`sessionStorage.setItem("tidemark-token", "${look.token}")`);
    await page.goto(`${this.url}/${hash}`).catch((cause: unknown) => {
      throw new Error(`the page did not come; the server said: ${this.#server?.err.slice(-2_000)}`, { cause });
    });
    return page;
  }

  /** What the API says, for tests to compare with. */
  async api<T>(at: string): Promise<T> {
    return (await (await fetch(`${this.url}${at}`)).json()) as T;
  }

  async post(at: string, token = "none"): Promise<Response> {
    const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
    return fetch(`${this.url}${at}`, { method: "POST", headers, body: "{}" });
  }
}

/** A port that nobody has, so that a server that comes back is found where it was. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}
