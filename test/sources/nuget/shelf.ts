/** A feed with one of everything that answers have to tell apart. */
import type { FeedEvent, NuGetFeed } from "../../../src/demo/nuget/feed.ts";
import { testDatabase } from "../../postgres.ts";
import { migrations, NuGetRig } from "./rig.ts";

const many = (id: string, count: number): FeedEvent[] =>
  Array.from({ length: count }, (_, n) => ({ id, version: `1.0.${n}` }));

function fill(feed: NuGetFeed): void {
  feed.commit([
    {
      id: "Newtonsoft.Json",
      version: "13.0.1",
      leaf: { tags: ["json"], description: "A framework for JSON.", title: "Json.NET" },
    },
    { id: "Newtonsoft.Json", version: "13.0.2-beta1", leaf: { tags: ["json"], description: "A framework for JSON." } },
    { id: "Newtonsoft.Json.Bson", version: "1.0.2", leaf: { description: "Binary." } },
    { id: "System.Text.Json", version: "8.0.0", leaf: { description: "High-performance serializers." } },
    {
      id: "Other.Thing",
      version: "1.0.0",
      leaf: { description: "Reads json files, among other things.", packageTypes: [{ name: "DotnetTool" }] },
    },
    { id: "Only.Prerelease", version: "1.0.0-alpha" },
    { id: "Only.SemVer2", version: "1.0.0-alpha.1" },
    { id: "By.Dependency", version: "1.0.0" },
    {
      id: "By.Dependency",
      version: "1.1.0",
      leaf: { dependencyGroups: [{ dependencies: [{ id: "X", range: "[1.0.0-a.b, )" }] }] },
    },
    { id: "With.Metadata", version: "1.0.0", leaf: { verbatimVersion: "1.0.0+build.5" } },
    { id: "Hidden", version: "1.0.0", leaf: { listed: false } },
    { id: "Partly.Hidden", version: "1.0.0", leaf: { listed: false } },
    { id: "Partly.Hidden", version: "2.0.0-Beta" },
    { id: "EntityFrameworkCore", version: "9.0.0" },
    { id: "настройки", version: "1.0.0" },
    { id: "\u212Aelvin", version: "1.0.0" },
    { id: "x".repeat(128), version: "1.0.0" },
    {
      id: "Old",
      version: "1.0.0",
      leaf: { deprecation: { reasons: ["Legacy"], message: "Use New.", alternatePackage: { id: "New", range: "*" } } },
    },
    {
      id: "Holey",
      version: "1.0.0",
      leaf: { vulnerabilities: [{ advisoryUrl: "https://advisories.example/1", severity: "2" }] },
    },
  ]);
  feed.commit([
    { id: "Newest.Deleted", version: "1.0.0" },
    { id: "Newest.Deleted", version: "2.0.0" },
  ]);
  feed.commit([{ id: "Newest.Deleted", version: "2.0.0", deletes: true }]);
  for (const count of [64, 65, 127, 128, 129]) feed.commit(many(`Many${count}`, count));
}

/** It, mirrored. */
export async function openShelf(): Promise<NuGetRig> {
  const rig = new NuGetRig(await testDatabase({ migrations: migrations() }));
  await rig.reset();
  fill(rig.feed);
  await rig.read();
  return rig;
}
