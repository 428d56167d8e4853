/** A process of its own that makes one call and prints what came of it. */
import { realClock } from "../../src/clock.ts";
import { Outbound } from "../../src/outbound/client.ts";

const client = new Outbound({ clock: realClock, user_agent: "tidemark/test", allow_private: ["127.0.0.1"] });
const answer = await client.call(process.argv[2]!);
await client.close();
console.log(`${answer.status} ${Buffer.from(answer.bytes).toString()}`);
