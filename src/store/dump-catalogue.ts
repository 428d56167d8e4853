/** What the dump of a schema reads from PostgreSQL's catalogue; names and expressions come back already quoted. */
import sql from "sql-template-tag";
import type { Queryable } from "./db.ts";

/** One statement of the dump and the comment on what it makes, if there is one. */
export interface Made {
  statement: string;
  comment: string | null;
}

export interface Relation {
  oid: number;
  name: string;
  /** r table, p partitioned table, v view, m materialised view. */
  kind: "r" | "p" | "v" | "m";
  unlogged: boolean;
  partition_by: string | null;
  parent: string | null;
  bound: string | null;
  options: string | null;
  definition: string | null;
  comment: string | null;
}

export interface Column {
  relation: number;
  name: string;
  definition: string;
  /** What cannot be said in `create table`. */
  storage: string | null;
  comment: string | null;
}

export interface Constraint {
  relation: number;
  name: string;
  definition: string;
  /** It refers to a table that was made later. */
  forward: boolean;
  comment: string | null;
}

export interface Attached extends Made {
  relation: number;
}

/** What belongs to an extension is made by `create extension`. */
const own = (catalogue: string, oid: string) => sql`
  not exists (
    select from pg_depend as e
    where e.classid = ${catalogue}::regclass and e.objid = ${sql([oid])} and e.deptype = 'e'
  )`;

export async function readSchemas(db: Queryable, schemas: string[]): Promise<Made[]> {
  const { rows } = await db.query<Made>(sql`
    select format('create schema %I;', n.nspname) as statement,
      format('comment on schema %I is %L;', n.nspname, obj_description(n.oid, 'pg_namespace')) as comment
    from pg_namespace as n
    where n.nspname = any(${schemas}::text[])
    order by array_position(${schemas}::text[], n.nspname::text)
  `);
  return rows.map(uncommented);
}

export async function readTypes(db: Queryable, schemas: string[]): Promise<Made[]> {
  const { rows } = await db.query<Made>(sql`
    select
      case t.typtype
        when 'e' then format('create type %I.%I as enum (%s);', n.nspname, t.typname, (
          select string_agg(quote_literal(l.enumlabel), ', ' order by l.enumsortorder)
          from pg_enum as l where l.enumtypid = t.oid
        ))
        else concat(
          format('create domain %I.%I as %s', n.nspname, t.typname, format_type(t.typbasetype, t.typtypmod)),
          ' default ' || t.typdefault,
          case when t.typnotnull then ' not null' end,
          (select string_agg(format(' constraint %I %s', c.conname, pg_get_constraintdef(c.oid)), '' order by c.conname)
            from pg_constraint as c where c.contypid = t.oid and c.contype = 'c'),
          ';'
        )
      end as statement,
      format('comment on type %I.%I is %L;', n.nspname, t.typname, obj_description(t.oid, 'pg_type')) as comment
    from pg_type as t
    join pg_namespace as n on n.oid = t.typnamespace
    where n.nspname = any(${schemas}::text[]) and t.typtype in ('e', 'd') and ${own("pg_type", "t.oid")}
    order by t.oid
  `);
  return rows.map(uncommented);
}

/** Those that stand alone; an identity column brings its own. */
export async function readSequences(db: Queryable, schemas: string[]): Promise<Made[]> {
  const { rows } = await db.query<Made>(sql`
    select
      format('create sequence %I.%I as %s increment %s minvalue %s maxvalue %s start %s cache %s%s;', n.nspname, c.relname,
        format_type(s.seqtypid, null), s.seqincrement, s.seqmin, s.seqmax, s.seqstart, s.seqcache,
        case when s.seqcycle then ' cycle' else '' end) as statement,
      format('comment on sequence %I.%I is %L;', n.nspname, c.relname, obj_description(c.oid, 'pg_class')) as comment
    from pg_sequence as s
    join pg_class as c on c.oid = s.seqrelid
    join pg_namespace as n on n.oid = c.relnamespace
    where n.nspname = any(${schemas}::text[])
      and not exists (
        select from pg_depend as d
        where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.refclassid = 'pg_class'::regclass
          and d.deptype in ('a', 'i')
      )
    order by c.oid
  `);
  return rows.map(uncommented);
}

/** Those with a procedural body may name tables, whose triggers and defaults need the others: these two kinds are read apart. */
export async function readFunctions(db: Queryable, schemas: string[], procedural: boolean): Promise<Made[]> {
  const { rows } = await db.query<Made>(sql`
    select rtrim(pg_get_functiondef(p.oid), e'\n') || ';' as statement,
      format('comment on %s %I.%I(%s) is %L;', case p.prokind when 'p' then 'procedure' else 'function' end, n.nspname,
        p.proname, pg_get_function_identity_arguments(p.oid), obj_description(p.oid, 'pg_proc')) as comment
    from pg_proc as p
    join pg_namespace as n on n.oid = p.pronamespace
    join pg_language as l on l.oid = p.prolang
    where n.nspname = any(${schemas}::text[]) and p.prokind <> 'a' and ${own("pg_proc", "p.oid")}
      and (l.lanname = 'plpgsql' and p.prorettype <> 'trigger'::regtype) = ${procedural}
    order by p.oid
  `);
  return rows.map(uncommented);
}

/** In the order they were made, which is the order they are meant to be read in. */
export async function readRelations(db: Queryable, schemas: string[]): Promise<Relation[]> {
  const { rows } = await db.query<Relation>(sql`
    select c.oid, format('%I.%I', n.nspname, c.relname) as name, c.relkind as kind, c.relpersistence = 'u' as unlogged,
      pg_get_partkeydef(c.oid) as partition_by,
      (select format('%I.%I', pn.nspname, p.relname)
        from pg_inherits as i
        join pg_class as p on p.oid = i.inhparent
        join pg_namespace as pn on pn.oid = p.relnamespace
        where i.inhrelid = c.oid and c.relispartition) as parent,
      pg_get_expr(c.relpartbound, c.oid) as bound,
      (select string_agg(o.option, ', ' order by o.option)
        from (
          select unnest(c.reloptions) as option
          union all
          select 'toast.' || unnest(t.reloptions) from pg_class as t where t.oid = c.reltoastrelid
        ) as o) as options,
      case when c.relkind in ('v', 'm') then pg_get_viewdef(c.oid, true) end as definition,
      quote_literal(obj_description(c.oid, 'pg_class')) as comment
    from pg_class as c
    join pg_namespace as n on n.oid = c.relnamespace
    where n.nspname = any(${schemas}::text[]) and c.relkind in ('r', 'p', 'v', 'm') and ${own("pg_class", "c.oid")}
    order by c.oid
  `);
  return rows;
}

export async function readColumns(db: Queryable, relations: number[]): Promise<Column[]> {
  const { rows } = await db.query<Column>(sql`
    select a.attrelid as relation, quote_ident(a.attname) as name,
      concat(
        replace(format_type(a.atttypid, a.atttypmod), 'timestamp with time zone', 'timestamptz'),
        case when a.attcollation <> t.typcollation then ' collate ' || a.attcollation::regcollation end,
        case
          when a.attidentity = 'a' then ' generated always as identity'
          when a.attidentity = 'd' then ' generated by default as identity'
          when a.attgenerated = 's' then format(' generated always as (%s) stored', pg_get_expr(d.adbin, d.adrelid))
          when a.attgenerated <> '' then format(' generated always as (%s) virtual', pg_get_expr(d.adbin, d.adrelid))
          else ' default ' || pg_get_expr(d.adbin, d.adrelid)
        end,
        case when a.attnotnull then ' not null' end
      ) as definition,
      case when a.attstorage <> t.typstorage then
        case a.attstorage when 'p' then 'plain' when 'e' then 'external' when 'x' then 'extended' else 'main' end
      end as storage,
      quote_literal(col_description(a.attrelid, a.attnum)) as comment
    from pg_attribute as a
    join pg_type as t on t.oid = a.atttypid
    left join pg_attrdef as d on d.adrelid = a.attrelid and d.adnum = a.attnum
    where a.attrelid = any(${relations}::oid[]) and a.attnum > 0 and not a.attisdropped
    order by a.attrelid, a.attnum
  `);
  return rows;
}

/** Without those that a partition has from its parent, and without "not null", which columns say themselves. */
export async function readConstraints(db: Queryable, relations: number[]): Promise<Constraint[]> {
  const { rows } = await db.query<Constraint>(sql`
    select c.conrelid as relation, quote_ident(c.conname) as name, pg_get_constraintdef(c.oid) as definition,
      c.confrelid > c.conrelid as forward, quote_literal(obj_description(c.oid, 'pg_constraint')) as comment
    from pg_constraint as c
    where c.conrelid = any(${relations}::oid[]) and c.contype in ('p', 'u', 'c', 'f', 'x') and c.conislocal
      and c.conparentid = 0
    order by c.conrelid, array_position('{p,u,x,c,f}'::text[], c.contype::text), c.conname
  `);
  return rows;
}

/** Without those that a constraint or the parent of a partition brings. */
export async function readIndexes(db: Queryable, relations: number[]): Promise<Attached[]> {
  const { rows } = await db.query<Attached>(sql`
    select i.indrelid as relation, pg_get_indexdef(i.indexrelid) || ';' as statement,
      format('comment on index %s is %L;', i.indexrelid::regclass, obj_description(i.indexrelid, 'pg_class')) as comment
    from pg_index as i
    join pg_class as c on c.oid = i.indexrelid
    where i.indrelid = any(${relations}::oid[]) and not c.relispartition
      and not exists (select from pg_constraint as k where k.conindid = i.indexrelid and k.contype in ('p', 'u', 'x'))
    order by i.indrelid, c.relname
  `);
  return rows.map(uncommented);
}

export async function readTriggers(db: Queryable, relations: number[]): Promise<Attached[]> {
  const { rows } = await db.query<Attached>(sql`
    select t.tgrelid as relation, pg_get_triggerdef(t.oid) || ';' as statement,
      format('comment on trigger %I on %s is %L;', t.tgname, t.tgrelid::regclass,
        obj_description(t.oid, 'pg_trigger')) as comment
    from pg_trigger as t
    where t.tgrelid = any(${relations}::oid[]) and not t.tgisinternal and t.tgparentid = 0
    order by t.tgrelid, t.tgname
  `);
  return rows.map(uncommented);
}

/** format('%L', null) is NULL, which would be a comment that removes the comment. */
function uncommented<M extends Made>(made: M): M {
  return made.comment?.endsWith(" is NULL;") ? { ...made, comment: null } : made;
}
