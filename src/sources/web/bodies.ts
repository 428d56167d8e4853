/** Bodies as they came, kept in a folder or an S3-compatible store where a setting says so. */
import { createHash, createHmac } from "node:crypto";
import { mkdir, rename, writeFile } from "node:fs/promises";
import path from "node:path";
import { type Answer, type Pull, TidemarkError } from "tidemark";
import type { WebParts } from "./parts.ts";
import type { Settings } from "./settings.ts";

const sha256 = (data: string | Uint8Array): string => createHash("sha256").update(data).digest("hex");

/** One object for each body, by its host and the digest of what it is: the same body is the same object. */
export async function keepBody(pull: Pull, parts: WebParts, url: string, { bytes, headers }: Answer): Promise<void> {
  const { bodies } = parts.settings();
  if (bodies === undefined) return;
  const name = `${new URL(url).host.replace(":", "_")}/${sha256(bytes)}`;
  if (bodies.startsWith("s3://")) return putObject(pull, parts.settings(), name, bytes, headers["content-type"]);
  const file = path.join(bodies, name);
  await mkdir(path.dirname(file), { recursive: true });
  // Whole or not at all, also where the process ends meanwhile.
  await writeFile(`${file}.${process.pid}`, bytes);
  await rename(`${file}.${process.pid}`, file);
}

async function putObject(
  pull: Pull,
  settings: Settings,
  name: string,
  bytes: Uint8Array,
  type?: string,
): Promise<void> {
  const { bodies, s3_endpoint, s3_key_id, s3_secret_key, s3_region } = settings;
  if (!s3_endpoint || !s3_key_id || !s3_secret_key)
    throw new TidemarkError(
      "ConfigInvalid",
      "TIDEMARK_WEB_BODIES names a bucket; TIDEMARK_WEB_S3_ENDPOINT, TIDEMARK_WEB_S3_KEY_ID and TIDEMARK_WEB_S3_SECRET_KEY have to say how to reach it.",
    );
  const { host: bucket, pathname } = new URL(bodies!);
  const key = [bucket, ...pathname.split("/").filter((part) => part !== ""), ...name.split("/")];
  const url = new URL(`/${key.map(encodeURIComponent).join("/")}`, s3_endpoint);
  const signed = signature({
    url,
    bytes,
    key_id: s3_key_id,
    secret: s3_secret_key,
    region: s3_region,
    now_ms: pull.now_ms(),
  });
  const answer = await pull.fetch(url.href, {
    method: "PUT",
    body: bytes,
    headers: { ...signed, "content-type": type ?? "application/octet-stream" },
    budgets: [],
    answers: [403],
  });
  if (answer.status >= 300)
    throw new TidemarkError(
      "UpstreamDown",
      `The store of bodies answered HTTP ${answer.status}: ${answer.text().slice(0, 200)}`,
    );
}

interface Signing {
  url: URL;
  bytes: Uint8Array;
  key_id: string;
  secret: string;
  region: string;
  now_ms: number;
  method?: string;
}

/** The headers of AWS Signature Version 4 for one request to S3. */
export function signature({
  url,
  bytes,
  key_id,
  secret,
  region,
  now_ms,
  method = "PUT",
}: Signing): Record<string, string> {
  const at = new Date(now_ms).toISOString().replace(/[-:]|\.\d+/g, "");
  const day = at.slice(0, 8);
  const digest = sha256(bytes);
  const pairs = [...url.searchParams].map((pair) => pair.map(encodeURIComponent).join("="));
  const query = pairs.sort().join("&");
  const names = "host;x-amz-content-sha256;x-amz-date";
  const request = [
    method,
    url.pathname,
    query,
    `host:${url.host}`,
    `x-amz-content-sha256:${digest}`,
    `x-amz-date:${at}`,
    "",
    names,
    digest,
  ];
  const scope = `${day}/${region}/s3/aws4_request`;
  const text = ["AWS4-HMAC-SHA256", at, scope, sha256(request.join("\n"))].join("\n");
  const keyed = (key: string | Buffer, data: string): Buffer => createHmac("sha256", key).update(data).digest();
  const key = [day, region, "s3", "aws4_request"].reduce<string | Buffer>(
    (last, part) => keyed(last, part),
    `AWS4${secret}`,
  );
  const signed = keyed(key, text).toString("hex");
  return {
    "x-amz-content-sha256": digest,
    "x-amz-date": at,
    authorization: `AWS4-HMAC-SHA256 Credential=${key_id}/${scope}, SignedHeaders=${names}, Signature=${signed}`,
  };
}
