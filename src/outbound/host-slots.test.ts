/** Slots of a host are given out in order, and are never lost. */
import { expect, it } from "vitest";
import { HostSlots } from "./host-slots.ts";

const never = new AbortController().signal;

it("lets as many in as there are slots, and the others in the order in which they came", async () => {
  const slots = new HostSlots(2);
  const got: string[] = [];
  const take = async (name: string) => {
    const giveBack = await slots.take("a", never);
    got.push(name);
    return giveBack;
  };
  const [one, two] = await Promise.all([take("one"), take("two")]);
  const three = take("three");
  const four = take("four");
  await Promise.resolve();
  expect(got).toEqual(["one", "two"]);
  one!();
  const third = await three;
  expect(got).toEqual(["one", "two", "three"]);
  two!();
  (await four)();
  third();
  expect(got).toEqual(["one", "two", "three", "four"]);
  expect(slots.size).toBe(0);
});

it("keeps hosts apart", async () => {
  const slots = new HostSlots(1);
  const a = await slots.take("a", never);
  const b = await slots.take("b", never);
  expect(slots.size).toBe(2);
  a();
  b();
  expect(slots.size).toBe(0);
});

it("forgets who gives up waiting, and gives the slot to the next", async () => {
  const slots = new HostSlots(1);
  const first = await slots.take("a", never);
  const impatient = new AbortController();
  const second = slots.take("a", impatient.signal);
  const third = slots.take("a", never);
  impatient.abort(new Error("enough"));
  await expect(second).rejects.toThrow("enough");
  first();
  (await third)();
  expect(slots.size).toBe(0);
  await expect(slots.take("a", impatient.signal)).rejects.toThrow("enough");
  expect(slots.size).toBe(0);
});
