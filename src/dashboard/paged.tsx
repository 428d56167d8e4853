/** A list that the API gives a page at a time, as {results, next, fresh_at}, in a table. */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { useReading } from "./reading.ts";
import { Failed, Loading } from "./small.tsx";
import { type Column, Table } from "./table.tsx";

interface Results<R> {
  results: R[];
  next: string | null;
}

interface PagedProps<R> {
  name: string;
  /** Where it is, and what else is asked. */
  path: string;
  query?: Record<string, string>;
  limit: number;
  columns: Column<R>[];
  keyOf: (row: R) => string;
  empty: ComponentChildren;
}

export function Paged<R>({ name, path, query = {}, limit, columns, keyOf, empty }: PagedProps<R>) {
  const asked = new URLSearchParams({ ...query, limit: String(limit) }).toString();
  // Another question begins at its first page.
  const [place, setPlace] = useState({ asked, after: "" });
  const after = place.asked === asked ? place.after : "";
  const from = after === "" ? "" : `&after=${encodeURIComponent(after)}`;
  const { value, failure, again } = useReading<Results<R>>(`${path}?${asked}${from}`, { keep: true });
  const goTo = (next: string) => setPlace({ asked, after: next });
  return (
    <>
      {failure && <Failed failure={failure} again={again} />}
      {value === null ? (
        !failure && <Loading what={name.toLowerCase()} />
      ) : (
        <Table name={name} columns={columns} rows={value.results} keyOf={keyOf} empty={empty} />
      )}
      <div class="pager">
        {after !== "" && (
          <button type="button" onClick={() => goTo("")}>
            To the first
          </button>
        )}
        {value !== null && value.next !== null && (
          <button type="button" onClick={() => goTo(value.next!)}>
            More {name.toLowerCase()}
          </button>
        )}
      </div>
    </>
  );
}

/** A field that narrows a list down as one types. */
export function Narrow({
  label,
  hint,
  value,
  set,
}: {
  label: string;
  hint: string;
  value: string;
  set: (text: string) => void;
}) {
  return (
    <label class="narrow">
      {label}{" "}
      <input
        type="search"
        placeholder={hint}
        maxLength={200}
        value={value}
        onInput={(event) => set(event.currentTarget.value)}
      />
    </label>
  );
}
