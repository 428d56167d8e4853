/** The file in which people keep the numbers of domain64: read, checked, and flattened into rows. */
import { readFileSync } from "node:fs";
import { TidemarkError } from "tidemark";
import { z } from "zod";
import { NUMBER_MOST, TLD_MOST } from "./domain64.ts";

export interface Entry {
  tld_id: number;
  domain_no: number | null;
  subdomain_no: number | null;
  name: string;
  retired: boolean;
}

const name = z.string().regex(/^[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?$/, "must be a name in lower case");
const leaf = z.union([name, z.strictObject({ name, retired: z.boolean().optional() })]);
const domain = z.strictObject({
  name,
  retired: z.boolean().optional(),
  children: z.record(z.string(), leaf).optional(),
});
const tld = z.strictObject({
  name,
  retired: z.boolean().optional(),
  children: z.record(z.string(), domain).optional(),
});
const File = z.record(z.string(), tld);

/** The numbers that come with the source: the document's own. */
export const readStandard = (): Entry[] =>
  readEntries(readFileSync(new URL("./domain64.json", import.meta.url), "utf8"), "domain64.json");

export function readFile(path: string): Entry[] {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (cause) {
    throw new TidemarkError("ConfigInvalid", `TIDEMARK_WEB_DOMAIN64 names ${path}, which cannot be read.`, { cause });
  }
  return readEntries(text, path);
}

/** Keys are numbers in hexadecimal, of any width; what is retired keeps its number and gets no host. */
export function readEntries(text: string, path: string): Entry[] {
  const wrong = (what: string): never => {
    throw new TidemarkError("ConfigInvalid", `${path}: ${what}.`);
  };
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return wrong("it is not JSON");
  }
  const parsed = File.safeParse(json);
  if (!parsed.success) {
    const { path: at, message } = parsed.error.issues[0]!;
    return wrong(`${at.map(String).join(" → ")}: ${message}`);
  }
  const number = (key: string, most: number, least: number, where: string): number => {
    const value = /^[0-9a-f]{1,8}$/i.test(key) ? Number.parseInt(key, 16) : Number.NaN;
    if (value >= least && value <= most) return value;
    return wrong(`"${key}" in ${where} must be a hexadecimal number from ${least} to ${most.toString(16)}`);
  };
  const entries: Entry[] = [];
  for (const [tld_key, top] of Object.entries(parsed.data)) {
    const tld_id = number(tld_key, TLD_MOST, 1, "the list of top-level domains");
    entries.push({ tld_id, domain_no: null, subdomain_no: null, name: top.name, retired: top.retired ?? false });
    for (const [domain_key, under] of Object.entries(top.children ?? {})) {
      const domain_no = number(domain_key, NUMBER_MOST, 1, top.name);
      entries.push({ tld_id, domain_no, subdomain_no: null, name: under.name, retired: under.retired ?? false });
      for (const [sub_key, sub] of Object.entries(under.children ?? {})) {
        const subdomain_no = number(sub_key, NUMBER_MOST, 1, `${under.name}.${top.name}`);
        const one = typeof sub === "string" ? { name: sub } : sub;
        const retired = "retired" in one ? (one.retired ?? false) : false;
        entries.push({ tld_id, domain_no, subdomain_no, name: one.name, retired });
      }
    }
  }
  checkTwice(entries, wrong);
  return entries;
}

/** One number one name, and one name one number, at each level. */
function checkTwice(entries: Entry[], wrong: (what: string) => never): void {
  const seen = new Map<string, string>();
  for (const { tld_id, domain_no, subdomain_no, name: own } of entries) {
    const under = domain_no === null ? "" : subdomain_no === null ? `${tld_id}` : `${tld_id}/${domain_no}`;
    const number = subdomain_no ?? domain_no ?? tld_id;
    const facts = [
      [`name ${under} ${own}`, String(number)],
      [`number ${under} ${number}`, own],
    ] as const;
    for (const [fact, value] of facts) {
      const other = seen.get(fact);
      if (other !== undefined)
        wrong(`"${own}" has the number ${number.toString(16)}, and ${other} is there already; nothing is given twice`);
      seen.set(fact, value);
    }
  }
}
