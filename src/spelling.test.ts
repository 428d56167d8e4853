/** Tests of the guess at what somebody meant to write. */
import { expect, it } from "vitest";
import { nearest } from "./spelling.ts";

it("finds the word that differs in the fewest letters", () => {
  expect(nearest("stauts", ["status", "search", "start"], 2)).toBe("status");
});

it("guesses nothing when every word is too far away", () => {
  expect(nearest("frobnicate", ["status", "search"], 3)).toBeNull();
  expect(nearest("status", [], 3)).toBeNull();
});
