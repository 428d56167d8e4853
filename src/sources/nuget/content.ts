/** The packages themselves, which are not mirrored: clients are sent to the feed, or given what the feed gives. */
import type { Context } from "tidemark";
import type { Feed } from "./feed-rows.ts";
import { lowerId } from "./package-id.ts";
import type { NuGetParts } from "./parts.ts";

const PROXIED_BYTES_MAX = 256 * 1024 * 1024;

interface Wanted {
  lower_id: string;
  version_key: string;
  file: string;
}

export async function content(
  { content_url, url }: Feed,
  { lower_id, version_key, file }: Wanted,
  context: Context,
  { settings, upstream }: NuGetParts,
): Promise<Response> {
  const [id, version] = [encodeURIComponent(lower_id), encodeURIComponent(version_key)];
  const known = [`${lower_id}.${version_key}.nupkg`, `${lower_id}.nuspec`].find((name) => name === lowerId(file));
  if (known === undefined || content_url === null) return new Response(null, { status: 404 });
  const target = `${content_url.replace(/\/+$/, "")}/${id}/${version}/${encodeURIComponent(known)}`;
  if (settings().content === "redirect") return new Response(null, { status: 302, headers: { location: target } });
  const { name } = upstream(new URL(url).host);
  const answer = await context.upstream(name).fetch(target, { redirects: "any", bytes_max: PROXIED_BYTES_MAX });
  const type = known.endsWith(".nuspec") ? "application/xml" : "application/octet-stream";
  return new Response(Buffer.from(answer.bytes), {
    status: answer.status,
    headers: { "content-type": answer.headers["content-type"] ?? type },
  });
}
