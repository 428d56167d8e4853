/** How database values become JavaScript values and back, the same for both drivers. */
import { TidemarkError } from "../errors.ts";

export type ValueParser = (text: string) => unknown;

const stamp = /^(\d{4,})-(\d\d)-(\d\d) (\d\d):(\d\d):(\d\d)(?:\.(\d{1,6}))?([+-])(\d\d)(?::(\d\d))?(?::(\d\d))?( BC)?$/;

/**
 * A timestamptz as PostgreSQL prints it, in whatever time zone the session has, as UTC text with six digits.
 * Years before Christ keep PostgreSQL's " BC", so that every value can be given back as a parameter.
 */
export function normaliseTimestamp(text: string): string {
  if (text === last_stamp.text) return last_stamp.value;
  last_stamp = { text, value: normalised(text) };
  return last_stamp.value;
}

/** One moment is often given for all rows of an answer. */
let last_stamp = { text: "", value: "" };

function normalised(text: string): string {
  // Nearly every value: a session in UTC and a year of four digits.
  if (text.length <= 29 && text.endsWith("+00") && text.charCodeAt(10) === 32) {
    const fraction = text.length > 22 ? text.slice(20, -3) : "";
    return `${text.slice(0, 10)}T${text.slice(11, 19)}.${fraction.padEnd(6, "0")}Z`;
  }
  if (text === "infinity" || text === "-infinity") return text;
  const parts = stamp.exec(text);
  if (parts === null) {
    throw new TidemarkError("ConfigInvalid", `The database prints times as "${text}"; set its DateStyle to ISO.`);
  }
  const [, year, month, day, hour, minute, second, fraction = "", sign, zone_hour, zone_minute, zone_second, bc] =
    parts;
  const offset_s = Number(zone_hour) * 3600 + Number(zone_minute ?? 0) * 60 + Number(zone_second ?? 0);
  // The calendar repeats every 400 years; Date reaches less far than timestamptz, so compute in 2000–2399.
  const full_year = bc === undefined ? Number(year) : 1 - Number(year);
  const stand_in = 2000 + (((full_year % 400) + 400) % 400);
  const local = Date.UTC(stand_in, Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second));
  const utc = new Date(local - (sign === "-" ? -offset_s : offset_s) * 1000);
  const utc_year = utc.getUTCFullYear() - stand_in + full_year;
  const shown = String(utc_year > 0 ? utc_year : 1 - utc_year).padStart(4, "0");
  const rest = utc.toISOString().slice(4, 19);
  return `${shown}${rest}.${fraction.padEnd(6, "0")}Z${utc_year > 0 ? "" : " BC"}`;
}

/** A PostgreSQL array literal, of any depth, with its elements parsed. */
export function parseArray(text: string, element: ValueParser): unknown[] {
  let at = text.indexOf("{");
  const literal = (): unknown[] => {
    const items: unknown[] = [];
    at++;
    while (text[at] !== "}") {
      if (at >= text.length) throw new Error(`an array literal does not end: ${text}`);
      if (text[at] === ",") at++;
      else if (text[at] === "{") items.push(literal());
      else if (text[at] === '"') items.push(element(quoted()));
      else items.push(bare());
    }
    at++;
    return items;
  };
  const quoted = (): string => {
    let value = "";
    for (at++; text[at] !== '"'; at++) {
      if (at >= text.length) throw new Error(`an array literal does not end: ${text}`);
      if (text[at] === "\\") at++;
      value += text[at];
    }
    at++;
    return value;
  };
  const bare = (): unknown => {
    const start = at;
    while (at < text.length && text[at] !== "," && text[at] !== "}") at++;
    const value = text.slice(start, at);
    return value === "NULL" ? null : element(value);
  };
  return literal();
}

const asText: ValueParser = (text) => text;
const asBytes: ValueParser = (text) => new Uint8Array(Buffer.from(text.slice(2), "hex"));

/** [type, its array type, parser], by the fixed oids of pg_type; every other type is text. */
const types: [number, number, ValueParser][] = [
  [16, 1000, (text) => text === "t"], // bool
  [17, 1001, asBytes], // bytea
  [18, 1002, asText], // "char"
  [19, 1003, asText], // name
  [20, 1016, BigInt], // int8
  [21, 1005, Number], // int2
  [23, 1007, Number], // int4
  [25, 1009, asText], // text
  [26, 1028, Number], // oid
  [114, 199, JSON.parse], // json
  [700, 1021, Number], // float4
  [701, 1022, Number], // float8
  [869, 1041, asText], // inet
  [1042, 1014, asText], // bpchar
  [1043, 1015, asText], // varchar
  [1082, 1182, asText], // date
  [1083, 1183, asText], // time
  [1114, 1115, asText], // timestamp
  [1184, 1185, normaliseTimestamp], // timestamptz
  [1186, 1187, asText], // interval
  [1700, 1231, asText], // numeric
  [2950, 2951, asText], // uuid
  [3802, 3807, JSON.parse], // jsonb
];

/** The parser of each type by its oid; a type that is not here stays text. */
export const parsers: Readonly<Record<number, ValueParser>> = Object.fromEntries(
  types.flatMap(([oid, array_oid, parse]) => [
    [oid, (text: string) => parse(text)],
    [array_oid, (text: string) => parseArray(text, (item) => parse(item))],
  ]),
);

export function parserOf(oid: number): ValueParser {
  return parsers[oid] ?? asText;
}

/**
 * A parameter as the text that PostgreSQL reads: arrays as array literals, objects as JSON. An array meant
 * for a json column has to be given as JSON text, because nothing here knows the column's type.
 */
export function encodeValue(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return encodeArray(value);
  if (value instanceof Uint8Array) return `\\x${Buffer.from(value).toString("hex")}`;
  if (value instanceof Date) return value.toISOString();
  if (typeof value === "object") return JSON.stringify(value);
  return String(value);
}

function encodeArray(items: readonly unknown[]): string {
  const encoded = items.map((item) => {
    if (Array.isArray(item)) return encodeArray(item);
    const text = encodeValue(item);
    if (text === null) return "NULL";
    return typeof item === "number" || typeof item === "bigint" ? text : `"${text.replace(/[\\"]/g, "\\$&")}"`;
  });
  return `{${encoded.join(",")}}`;
}
