/** The guard asks once, looks at every address, and says what it refused and how to allow it. */
import { expect, it } from "vitest";
import { type Address, Guard } from "./guard.ts";

const v4 = (address: string): Address => ({ address, family: 4 });
const v6 = (address: string): Address => ({ address, family: 6 });
const good = v4("93.184.216.34");

function guard(answers: readonly Address[], allow_private: readonly string[] = [], own: readonly string[] = []) {
  const asked: string[] = [];
  const resolve = async (name: string) => {
    asked.push(name);
    return answers;
  };
  const made = new Guard({ allow_private, resolve, own: () => own });
  return { asked, check: (url: string) => made.check(new URL(url)) };
}

it("hands out what it checked, all of it", async () => {
  const { check, asked } = guard([good, v6("2606:4700::1111")]);
  expect(await check("https://example.com/x")).toEqual([good, v6("2606:4700::1111")]);
  expect(asked).toEqual(["example.com"]);
});

it.each([
  ["one bad among good ones", [good, v4("10.0.0.1")]],
  ["one bad before good ones", [v6("::1"), good]],
  ["a mapped one", [v6("::ffff:127.0.0.1")]],
  ["one with a zone", [v6("fe80::1%eth0")]],
  ["something that is no address", [{ address: "0177.0.0.1", family: 4 } as Address]],
])("refuses a name with %s", async (_, answers) => {
  await expect(guard(answers).check("http://example.com/")).rejects.toMatchObject({ code: "OutboundForbidden" });
});

it("says which address it is, what it is, and which setting allows it", async () => {
  const refused = guard([v6("::ffff:10.1.2.3")]).check("https://inside.example/secret?token=1");
  await expect(refused).rejects.toThrow(
    "inside.example leads to 10.1.2.3, which is not an address of the open Internet (private), so it is not called. If it is meant, TIDEMARK_ALLOW_PRIVATE=10.1.2.3 allows it.",
  );
  await expect(refused).rejects.toMatchObject({ details: { host: "inside.example", address: "10.1.2.3" } });
});

it("lets through what is listed, all of it or nothing", async () => {
  expect(await guard([v4("10.1.2.3")], ["10.0.0.0/8"]).check("http://inside.example/")).toEqual([v4("10.1.2.3")]);
  const mixed = guard([v4("10.1.2.3"), v4("192.168.0.1")], ["10.0.0.0/8"]).check("http://inside.example/");
  await expect(mixed).rejects.toThrow("192.168.0.1");
});

it("does not ask about an address", async () => {
  const { check, asked } = guard([good]);
  expect(await check("http://93.184.216.34/")).toEqual([good]);
  expect(await check("http://[2606:4700::1111]/")).toEqual([v6("2606:4700::1111")]);
  await expect(check("http://[::1]/")).rejects.toThrow("::1 is not an address of the open Internet (loopback)");
  expect(asked).toEqual([]);
});

it("refuses this machine's own addresses, though they be of the open Internet", async () => {
  const own = ["93.184.216.34", "fe80::1%eth0"];
  await expect(guard([good], [], own).check("http://example.com/")).rejects.toThrow("this machine itself");
  await expect(guard([], [], own).check("http://[::ffff:93.184.216.34]/")).rejects.toThrow("this machine itself");
  expect(await guard([good], ["93.184.216.34"], own).check("http://example.com/")).toEqual([good]);
});

it.each([1, 22, 25, 6667, 10080])("does not call port %i, unless the address is listed", async (port) => {
  await expect(guard([good]).check(`http://example.com:${port}/`)).rejects.toThrow(`Port ${port} of example.com`);
  expect(await guard([good], ["93.184.216.34"]).check(`http://example.com:${port}/`)).toEqual([good]);
});

it("says when a name has no address", async () => {
  await expect(guard([]).check("http://example.com/")).rejects.toMatchObject({
    code: "UpstreamDown",
    message: "No address was found for example.com (ENODATA).",
    details: { dns: "ENODATA" },
  });
  const resolve = () => Promise.reject(Object.assign(new Error("no"), { code: "ENOTFOUND" }));
  const lost = new Guard({ allow_private: [], resolve }).check(new URL("http://example.com/"));
  await expect(lost).rejects.toThrow("No address was found for example.com (ENOTFOUND).");
});

it("asks once for many calls at once, and again for the next", async () => {
  const { check, asked } = guard([good]);
  await Promise.all([check("http://example.com/a"), check("https://example.com/b"), check("http://example.org/")]);
  await check("http://example.com/c");
  expect(asked).toEqual(["example.com", "example.org", "example.com"]);
});
