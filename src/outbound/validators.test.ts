/** Validators go back to their server exactly as they came, and only where they can be trusted. */
import { describe, expect, it } from "vitest";
import { conditionalHeaders, validatorsAfterUnchanged, validatorsOf } from "./validators.ts";

const now = Date.UTC(2030, 0, 2);
const date = "Tue, 01 Jan 2030 12:00:00 GMT";
const earlier = "Tue, 01 Jan 2030 11:59:59 GMT";

describe("validators", () => {
  it.each(['"abc"', 'W/"abc"', '""', '"a,b"', 'W/"0-gzip"', "abc123", "W/abc", '"\xe9"'])(
    "keep the tag %s as it is",
    (etag) => {
      const validators = validatorsOf({ etag }, now);
      expect(validators.etag).toBe(etag);
      expect(conditionalHeaders(validators)).toEqual({ "if-none-match": etag });
    },
  );

  it.each(["*", "", " ", '"a" "b"', '"a", "b"', 'w/"a"b', '"a\nb"', `"${"x".repeat(1000)}"`])(
    "take %j for no tag",
    (etag) => {
      expect(validatorsOf({ etag }, now).etag).toBeNull();
    },
  );

  it.each(["Tue, 01 Jan 2030 11:00:00 GMT", "Tuesday, 01-Jan-30 11:00:00 GMT", "Tue Jan  1 11:00:00 2030"])(
    "keep the date %s in its form",
    (last_modified) => {
      const validators = validatorsOf({ "last-modified": last_modified, date }, now);
      expect(conditionalHeaders(validators)).toEqual({ "if-modified-since": last_modified });
    },
  );

  it("do not use a date that is none, nor one of the same second as the answer, nor one from its future", () => {
    expect(validatorsOf({ "last-modified": "yesterday" }, now).last_modified).toBeNull();
    expect(validatorsOf({ "last-modified": date, date }, now).last_modified).toBeNull();
    expect(validatorsOf({ "last-modified": date, date: earlier }, now).last_modified).toBeNull();
    expect(validatorsOf({ "last-modified": earlier, date }, now).last_modified).toBe(earlier);
    expect(validatorsOf({ "last-modified": earlier }, now).last_modified).toBe(earlier);
  });

  it("are both sent where both are known, and neither where nothing is", () => {
    const both = validatorsOf({ etag: '"a"', "last-modified": earlier, date }, now);
    expect(conditionalHeaders(both)).toEqual({ "if-none-match": '"a"', "if-modified-since": earlier });
    expect(conditionalHeaders(validatorsOf({}, now))).toEqual({});
    expect(conditionalHeaders()).toEqual({});
  });

  it("stay after a 304 that says nothing, and follow one that says something", () => {
    const remembered = { etag: '"a"', last_modified: earlier };
    expect(validatorsAfterUnchanged(remembered, { date }, now)).toEqual(remembered);
    expect(validatorsAfterUnchanged(remembered, { etag: 'W/"b"', date }, now)).toEqual({
      etag: 'W/"b"',
      last_modified: earlier,
    });
  });
});
