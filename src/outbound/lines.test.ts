/** Connections are handed to one call at a time, kept only where they can be used again, and bounded for each host. */
import type { Socket } from "node:net";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type Line, Lines } from "./lines.ts";

let lines: Lines;
beforeEach(() => {
  lines = new Lines(() => () => undefined, 2);
});
afterEach(() => lines.close());

const address = (text: string, through_proxy = false) => ({
  addresses: [{ address: text, family: 4 as const }],
  through_proxy,
  connect_ms: 1000,
});
const here = address("192.0.2.1");
const one = new URL("http://a.example/");
const other_port = new URL("http://a.example:8080/");

/** As if it had connected, and its call had ended well. */
function used(line: Line, remoteAddress = "192.0.2.1", destroyed = false): Line {
  line.socket = { remoteAddress, destroyed } as Socket;
  lines.giveBack(line);
  return line;
}

it("hands a kept one to the next call, and to one call only", () => {
  const line = used(lines.take(one, here, false));
  expect(lines.take(one, here, false)).toBe(line);
  expect(lines.take(one, here, false)).not.toBe(line);
  expect(lines.size).toBe(2);
});

it("hands out the one that was used last, so that the others may go", () => {
  const [first, second] = [lines.take(one, here, false), lines.take(one, here, false)];
  used(first);
  used(second);
  expect(lines.take(one, here, false)).toBe(second);
});

it.each([
  ["of another port", other_port, here, false],
  ["of https", new URL("https://a.example/"), here, false],
  ["of another host", new URL("http://b.example/"), here, false],
  ["to an address that was not checked for this call", one, address("192.0.2.2"), false],
  ["when a new one is wanted", one, here, true],
  ["that leads there directly to a call that goes through the proxy", one, address("192.0.2.1", true), false],
])("does not hand out one %s", (_, url, checked, fresh) => {
  const line = used(lines.take(one, here, false));
  expect(lines.take(url, checked, fresh)).not.toBe(line);
});

it("keeps none that is closed", () => {
  used(lines.take(one, here, false), "192.0.2.1", true);
  expect(lines.size).toBe(0);
});

it("lets the oldest go when there would be too many to one host, over all its ports", () => {
  const [first, second] = [lines.take(one, here, false), lines.take(one, here, false)];
  used(first);
  used(second);
  lines.take(other_port, here, false);
  expect(lines.size).toBe(2);
  expect(first.client.destroyed).toBe(true);
  expect(second.client.destroyed).toBe(false);
});

it("gives none after it was closed", async () => {
  const line = lines.take(one, here, false);
  await lines.close();
  expect(line.client.destroyed).toBe(true);
  expect(() => lines.take(one, here, false)).toThrow("because no more calls are made");
  expect(lines.size).toBe(0);
});
