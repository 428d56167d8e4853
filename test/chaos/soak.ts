/** The long form of the chaos test: ordeal after ordeal, each with its seed, for the minutes given. */
import { realClock } from "tidemark";
import { ordeal } from "./ordeal.ts";

const minutes = Number(process.argv[2] ?? 30);
const first = Number(process.argv[3] ?? 1);
const begun = realClock.elapsed_ms();
let failed = 0;
for (let seed = first; realClock.elapsed_ms() - begun < minutes * 60_000; seed += 1) {
  const report = await ordeal({ seed, rounds: 80, rest_seconds: 120 });
  const { breaches, said, ...counts } = report;
  console.log(`seed ${seed}: ${breaches.length === 0 ? "kept every promise" : "BROKE"}`, JSON.stringify(counts));
  for (const what of [...breaches, ...said]) console.log(`  ${what.trim()}`);
  if (breaches.length > 0) failed += 1;
}
console.log(failed === 0 ? "every ordeal was survived" : `${failed} ordeals were not survived`);
process.exitCode = failed === 0 ? 0 : 1;
