/** A process that takes the lock of a data directory, or says why not, and stays. */
import { realClock } from "../src/clock.ts";
import { lockDirectory } from "../src/store/directory-lock.ts";

const [directory] = process.argv.slice(2);
try {
  await lockDirectory(directory!);
  console.log("locked");
  await realClock.sleep(3_600_000);
} catch (error) {
  console.log(String(error));
}
