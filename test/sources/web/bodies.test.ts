/** Bodies are kept as they came where a setting says so: in a folder, or in a store that checks who writes. */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, beforeAll, expect, inject, it } from "vitest";
import { signature } from "../../../src/sources/web/bodies.ts";
import { testDatabase } from "../../postgres.ts";
import { migrations, WebRig } from "./rig.ts";

let rig: WebRig;
const HOST = "www.gsa.gov";

beforeAll(async () => {
  rig = new WebRig(await testDatabase({ migrations: migrations() }));
});
afterEach(() => rig.end());

const digest = (bytes: string | Uint8Array) => createHash("sha256").update(bytes).digest("hex");

it("in a folder, by host and digest", async () => {
  const bodies = path.join(inject("scratch"), "bodies");
  await rig.reset({ bodies });
  rig.sites.site(HOST).file("/", "<title>Home</title>apples", "text/html");
  await rig.crawl(HOST);
  const kept = await readFile(path.join(bodies, HOST, digest("<title>Home</title>apples")), "utf8");
  expect(kept).toBe("<title>Home</title>apples");
});

it("in an S3-compatible store, signed as it wants it", async () => {
  const secret = "s3cret";
  await rig.reset();
  const bodies = { bodies: "s3://pages/raw", s3_endpoint: rig.upstream.url, s3_key_id: "KEY", s3_secret_key: secret };
  const own = { delay: "100ms", apart_by: "domain", reached_at: `${HOST}=${rig.upstream.url}`, ...bodies };
  rig.source.configure!(rig.source.settings!.parse(own), {} as never);
  const body = "<title>Home</title>apples";
  rig.sites.site(HOST).file("/", body, "text/html");
  const store = rig.sites.site(new URL(rig.upstream.url).host);
  const stored: string[] = [];
  store.instead = (at, { headers, at_ms }) => {
    const now_ms = Date.parse("2030-01-01T00:00:00Z") + at_ms;
    const url = new URL(at, rig.upstream.url);
    const signed = signature({ url, bytes: Buffer.from(body), key_id: "KEY", secret, region: "us-east-1", now_ms });
    const good = headers.authorization === signed.authorization && headers["x-amz-content-sha256"] === digest(body);
    if (good) stored.push(at);
    return { status: good ? 200 : 403, headers: {}, body: "" };
  };
  await rig.crawl(HOST);
  expect(stored).toEqual([`/pages/raw/${HOST}/${digest(body)}`]);
  expect(await rig.urls("apples")).toHaveLength(1);
});
