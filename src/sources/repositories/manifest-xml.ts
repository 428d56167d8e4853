/** Manifests in XML, and Gradle's: pom.xml, the projects of .NET, build.gradle. */
import { Parser } from "htmlparser2";
import type { Dependency, Needs } from "./report.ts";

type Scope = Dependency["scope"];

interface Element {
  name: string;
  attributes: Record<string, string>;
  text: string;
  children: Element[];
}

const DEPTH_MOST = 64;

/** The elements of a document. Entities that it declares itself are not expanded. */
function elementsOf(text: string): Element {
  const root: Element = { name: "", attributes: {}, text: "", children: [] };
  const open = [root];
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        const element = { name, attributes, text: "", children: [] };
        if (open.length < DEPTH_MOST) open.at(-1)!.children.push(element);
        open.push(element);
      },
      ontext(part) {
        open.at(-1)!.text += part;
      },
      onclosetag() {
        if (open.length > 1) open.pop();
      },
    },
    { xmlMode: true },
  );
  parser.end(text);
  return root;
}

const child = (element: Element | undefined, name: string): Element | undefined =>
  element?.children.find((one) => one.name === name);
const textOf = (element: Element | undefined, name: string): string | null => child(element, name)?.text.trim() || null;

function all(element: Element, name: string, found: Element[] = []): Element[] {
  for (const one of element.children) {
    if (one.name === name) found.push(one);
    all(one, name, found);
  }
  return found;
}

export function readMaven(text: string): Needs {
  const project = child(elementsOf(text), "project");
  const listed = child(project, "dependencies")?.children ?? [];
  const scopes: Record<string, Scope> = { test: "development", provided: "build", system: "build", import: "build" };
  const dependencies = listed
    .filter(({ name }) => name === "dependency")
    .map((one) => ({
      name: `${textOf(one, "groupId") ?? "?"}:${textOf(one, "artifactId") ?? "?"}`,
      version: textOf(one, "version"),
      scope:
        textOf(one, "optional") === "true" ? ("optional" as const) : (scopes[textOf(one, "scope") ?? ""] ?? "runtime"),
    }));
  const group = textOf(project, "groupId") ?? textOf(child(project, "parent"), "groupId");
  const artifact = textOf(project, "artifactId");
  return { name: artifact === null ? null : `${group ?? "?"}:${artifact}`, dependencies };
}

export function readProject(text: string): Needs {
  const root = elementsOf(text);
  const dependencies = all(root, "PackageReference").flatMap((one): Dependency[] => {
    const name = one.attributes.Include ?? one.attributes.Update;
    if (name === undefined) return [];
    const version = one.attributes.Version ?? textOf(one, "Version");
    const kept_inside = (one.attributes.PrivateAssets ?? textOf(one, "PrivateAssets") ?? "").toLowerCase() === "all";
    return [{ name, version, scope: kept_inside ? "build" : "runtime" }];
  });
  return { name: all(root, "PackageId")[0]?.text.trim() || null, dependencies };
}

const gradle_scopes: [RegExp, Scope][] = [
  [/^(test|androidTest)/, "development"],
  [/^(compileOnly|annotationProcessor|kapt|ksp|provided)/, "build"],
  [/^(api|implementation|runtimeOnly|compile|runtime)$/, "runtime"],
];

/** Dependencies written as one text, "group:name:version"; what a script computes is not known without running it. */
export function readGradle(text: string): Needs {
  const code = text.replaceAll(/\/\*[\s\S]*?\*\//g, " ").replaceAll(/(^|[^:])\/\/.*$/gm, "$1");
  const dependencies: Dependency[] = [];
  const found = code.matchAll(
    /\b(\w+)\s*\(?\s*(?:platform\s*\(\s*)?["']([\w.-]+:[\w.-]+)(?::([^"'@]+))?(?:@\w+)?["']/g,
  );
  for (const [, configuration = "", name = "", version] of found) {
    const scope = gradle_scopes.find(([pattern]) => pattern.test(configuration))?.[1];
    if (scope !== undefined) dependencies.push({ name, version: version ?? null, scope });
  }
  return { name: null, dependencies };
}
