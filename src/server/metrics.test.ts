/** Checks what is told while the database cannot be asked. */
import { expect, it } from "vitest";
import { Events } from "../events.ts";
import { Metrics } from "./metrics.ts";

it("tells what this process counted, and nothing of the fleet, while the database is away", async () => {
  const events = new Events();
  const metrics = new Metrics(events);
  events.emit("claim", { count: 3, ms: 1 });
  const text = await metrics.render(null);
  expect(text).toContain("tidemark_claimed_total 3");
  expect(text).not.toMatch(/^tidemark_(workers|due_resources|leases)\b/m);
});
