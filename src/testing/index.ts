/** What the author of a source needs to test it: a clock to move, an upstream to pretend, and the checks all must pass. */
export { type Check, conformance, type Given } from "./conformance.ts";
export { type Life, mortal } from "./mortal.ts";
export { type Call, overspent } from "./replay.ts";
export { type Mirror, type MirroredTable, Trial, type TrialGiven } from "./trial.ts";
export { type Asked, PretendUpstream, pretendUpstream, type Reply, type Route, type Trouble } from "./upstream.ts";
export { databaseTime, setDatabaseClock, VirtualClock } from "./virtual-clock.ts";
export { wipe } from "./wipe.ts";
