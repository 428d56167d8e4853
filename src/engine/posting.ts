/** A message from outside of pulls: what a person asks of a resource that has a mailbox. */
import type { Post } from "../contract.ts";
import type { Db } from "../store/db.ts";
import { checkPost } from "./batch.ts";
import type { Lanes } from "./lanes.ts";
import { post } from "./mailbox.ts";
import { findResources, lockDue, nameOf } from "./resources.ts";

/** False where there is no such resource. */
export async function postFromOutside(db: Db, lanes: Lanes, source: string, given: Post): Promise<boolean> {
  const checked = checkPost(lanes.kind(source, given.kind), given);
  return db.transaction(async (tx) => {
    const resource_id = (await findResources(tx, source, [given])).get(nameOf(given));
    if (resource_id === undefined) return false;
    await lockDue(tx, [resource_id]);
    await post(tx, [{ resource_id, origin_id: null, position: null, ...checked }]);
    return true;
  });
}
