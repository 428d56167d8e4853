/** The dashboard in a real browser, over the demo: all of it with one of each, since both take seconds to start. */
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { demoTests } from "./demo.ts";
import { linkTests } from "./link.ts";
import { mannersTests, readingTests } from "./manners.ts";
import { nugetDemoTests, nugetPageTests } from "./nuget.ts";
import { overviewTests } from "./overview.ts";
import { actionTests, resourceTests, sourceTests } from "./resources.ts";
import { Rig } from "./rig.ts";
import { webTests } from "./web.ts";

let opened: Rig;
const rig = () => opened;

beforeAll(async () => {
  opened = await Rig.open();
});
afterAll(() => opened.close());
afterEach(() => {
  expect(opened.complaints.splice(0)).toEqual([]);
  expect(opened.outside).toEqual([]);
});

overviewTests(rig);
sourceTests(rig);
resourceTests(rig);
actionTests(rig);
readingTests(rig);
mannersTests(rig);
demoTests(rig);
nugetPageTests(rig);
nugetDemoTests(rig);
webTests(rig);
linkTests(rig);
