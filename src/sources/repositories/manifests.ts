/** What a repository says that it needs, by the manifests of its package managers. */
import { readGoMod, readRequirements } from "./manifest-lines.ts";
import { readCargo, readPyproject } from "./manifest-toml.ts";
import { readGradle, readMaven, readProject } from "./manifest-xml.ts";
import type { Dependency, Manifest, Needs } from "./report.ts";

/** More are counted and not listed. */
const DEPENDENCIES_MOST = 2_000;
/** Manifests that are read; a repository of thousands of packages is cut there. */
export const MANIFESTS_MOST = 200;

interface Reader {
  file: RegExp;
  ecosystem: string;
  read(text: string): Needs;
}

const readers: Reader[] = [
  { file: /(^|\/)package\.json$/, ecosystem: "npm", read: readPackage },
  { file: /(^|\/)go\.mod$/, ecosystem: "go", read: readGoMod },
  { file: /(^|\/)requirements([\w.-]*)\.txt$/, ecosystem: "pypi", read: readRequirements },
  { file: /(^|\/)pyproject\.toml$/, ecosystem: "pypi", read: readPyproject },
  { file: /(^|\/)Cargo\.toml$/, ecosystem: "cargo", read: readCargo },
  { file: /(^|\/)pom\.xml$/, ecosystem: "maven", read: readMaven },
  { file: /(^|\/)build\.gradle(\.kts)?$/, ecosystem: "maven", read: readGradle },
  { file: /\.(cs|fs|vb)proj$/, ecosystem: "nuget", read: readProject },
  { file: /(^|\/)composer\.json$/, ecosystem: "packagist", read: readComposer },
];

const readerOf = (path: string): Reader | undefined => readers.find(({ file }) => file.test(path));

export const isManifest = (path: string): boolean => readerOf(path) !== undefined;

/** One that cannot be read is listed with nothing in it: it is there all the same. */
export function readManifest(path: string, text: string): Manifest {
  const reader = readerOf(path)!;
  const { name, dependencies } = orNothing(() => reader.read(text));
  const listed = dependencies.slice(0, DEPENDENCIES_MOST);
  const { ecosystem } = reader;
  return { file: path, ecosystem, name, dependencies: listed, left_out: dependencies.length - listed.length };
}

function orNothing(read: () => Needs): Needs {
  try {
    return read();
  } catch {
    return { name: null, dependencies: [] };
  }
}

type Scope = Dependency["scope"];

function readPackage(text: string): Needs {
  const given = JSON.parse(text) as Record<string, unknown>;
  const scopes: [string, Scope][] = [
    ["dependencies", "runtime"],
    ["devDependencies", "development"],
    ["optionalDependencies", "optional"],
    ["peerDependencies", "peer"],
  ];
  return { name: textOr(given.name), dependencies: scopes.flatMap(([field, scope]) => pairs(given[field], scope)) };
}

function readComposer(text: string): Needs {
  const given = JSON.parse(text) as Record<string, unknown>;
  const dependencies = [...pairs(given.require, "runtime"), ...pairs(given["require-dev"], "development")];
  return { name: textOr(given.name), dependencies };
}

export const textOr = (value: unknown): string | null => (typeof value === "string" ? value.slice(0, 300) : null);

function pairs(value: unknown, scope: Scope): Dependency[] {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return [];
  return Object.entries(value).map(([name, version]) => ({
    name: name.slice(0, 300),
    version: textOr(version),
    scope,
  }));
}
