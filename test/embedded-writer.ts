/** A process that commits to an embedded database as fast as it can and prints each commit that was acknowledged. */
import sql from "sql-template-tag";
import { openEmbedded } from "../src/store/embedded.ts";

const [data] = process.argv.slice(2);
const db = await openEmbedded({ data: data! });
await db.query(sql`create table if not exists note (n int primary key, text text)`);
const { rows } = await db.query<{ next: number }>(sql`select coalesce(max(n), 0) + 1 as next from note`);
for (let n = rows[0]!.next; ; n++) {
  await db.transaction((tx) => tx.query(sql`insert into note (n, text) values (${n}, repeat('x', 500))`));
  console.log(n);
}
