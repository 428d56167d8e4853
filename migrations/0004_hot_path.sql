-- The statements that every refresh and every message takes, as functions.
--
-- Planning them costs more than running them for ten rows, and behind a pooler nothing can be prepared from outside; a function
-- keeps its plans for as long as its connection lives. The settings below keep those plans on the indexes, whatever a table's
-- size was when they were made.

create function tidemark.has_room(in_lane int) returns boolean
  language sql stable
  as $$
    select l.fleet is null or l.fleet > (
             select count(e.resource_id)
               from tidemark.lane p join tidemark.lease e on e.lane_id = p.lane_id and e.lease_until > tidemark.now()
              where (p.source, p.name, p.upstream) = (l.source, l.name, l.upstream))
      from tidemark.lane l where l.lane_id = in_lane
  $$;

comment on function tidemark.has_room is 'Whether a lane has no bound, or room below it: a glance, which the claim repeats behind the lane''s lock.';

create function tidemark.peek(lanes int[], marks timestamptz[]) returns table (lane_id int, settled_at timestamptz)
  language plpgsql stable
  set plan_cache_mode = force_generic_plan set enable_seqscan = off
  as $$
#variable_conflict use_column
begin
  return query
  select w.lane_id, tidemark.now() - interval '5 seconds'
    from unnest(lanes, marks) as w(lane_id, mark)
    join tidemark.lane l on l.lane_id = w.lane_id
    join tidemark.upstream u on u.upstream = l.upstream
   cross join lateral (
     select d.resource_id from tidemark.due d
      where d.lane_id = w.lane_id and d.lease_until is null and d.due_at >= w.mark and d.due_at <= tidemark.now()
      order by d.due_at limit 1) c
   where (u.closed_until is null or u.closed_until <= tidemark.now()) and (l.fleet is null or tidemark.has_room(w.lane_id));
end
$$;

comment on function tidemark.peek is 'Which lanes have something due now, in an open upstream: one index probe a lane.';

create function tidemark.next_wake(lanes int[], marks timestamptz[], since timestamptz)
  returns table (due_ms float8, expiry_ms float8)
  language plpgsql stable
  set plan_cache_mode = force_generic_plan set enable_seqscan = off
  as $$
begin
  return query
  select (select extract(epoch from min(greatest(c.due_at, u.closed_until)) - tidemark.now())::float8 * 1000
            from unnest(lanes, marks) as w(lane_id, mark)
            join tidemark.lane l on l.lane_id = w.lane_id
            join tidemark.upstream u on u.upstream = l.upstream
           cross join lateral (
             select d.due_at from tidemark.due d
              where d.lane_id = w.lane_id and d.lease_until is null and d.due_at >= w.mark and d.due_at < 'infinity'
              order by d.due_at limit 1) c
           where l.fleet is null or tidemark.has_room(w.lane_id)),
         (select extract(epoch from h.until - tidemark.now())::float8 * 1000
            from tidemark.hold h where h.until >= since order by h.until limit 1);
end
$$;

comment on function tidemark.next_wake is 'When to look again: the earliest due row of a lane with room, and the earliest end of a lease.';

create function tidemark.claim(
  worker int, ttl_ms float8, over_ids bigint[], lanes int[], marks timestamptz[], most int[], ahead_ms float8[], by_place boolean
) returns table (
  resource_id bigint, lease_no bigint, place tid, fresh_at timestamptz, failures smallint,
  mail_done bigint, mail_seq bigint, source text, kind text, key text, options jsonb, "cursor" jsonb, generation bigint,
  changed_at timestamptz, viewed_at timestamptz, progress_done bigint, marked boolean,
  lane_id int, hold_id bigint, newest_due_at timestamptz, tried_at timestamptz, now_ms float8
)
  language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_sort = on
  as $$
#variable_conflict use_column
declare
  picked tid[];
begin
  delete from tidemark.hold where hold_id = any(over_ids);
  if by_place then
    picked := array(
      select d.ctid from tidemark.due d
       where d.lane_id = lanes[1] and d.lease_until is null and d.asked_at is not null and d.due_at <= tidemark.now()
       order by d.asked_at limit most[1] for update skip locked);
  else
    picked := array(
      select c.place
        from unnest(lanes, marks, most, ahead_ms) as w(lane_id, mark, most, ahead_ms)
       cross join lateral (
         select d.ctid as place from tidemark.due d
          where d.lane_id = w.lane_id and d.lease_until is null and d.due_at >= w.mark
            and d.due_at <= tidemark.now() + case
                  when w.ahead_ms > 0 and exists (
                    select 1 from tidemark.due e
                     where e.lane_id = w.lane_id and e.lease_until is null and e.due_at >= w.mark and e.due_at <= tidemark.now())
                  then w.ahead_ms else 0 end * interval '1 millisecond'
          order by d.due_at limit w.most for update skip locked) c);
  end if;
  return query
  with taken as (
    update tidemark.due d
       set lease_no = d.lease_no + 1, lease_until = tidemark.now() + ttl_ms * interval '1 millisecond',
           tried_at = tidemark.now(), worker_id = worker
     where d.ctid = any(picked)
    returning d.resource_id, d.lease_no, d.lane_id, d.due_at, d.fresh_at, d.failures, d.mail_done, d.mail_seq, d.ctid as place
  ), held as (
    insert into tidemark.hold (lane_id, until, resource_ids, lease_nos)
    select t.lane_id, tidemark.now() + ttl_ms * interval '1 millisecond', array_agg(t.resource_id), array_agg(t.lease_no)
      from taken t group by t.lane_id
    returning hold_id, lane_id
  ), newest as (
    select t.lane_id, max(t.due_at) as due_at from taken t group by t.lane_id
  )
  select t.resource_id, t.lease_no, t.place, t.fresh_at, t.failures, t.mail_done, t.mail_seq,
         r.source, r.kind, r.key, r.options, r.cursor, r.generation, r.changed_at, r.viewed_at, r.progress_done,
         r.error is not null or r.reason is not null or r.parked_at is not null or r.gone_at is not null,
         t.lane_id, h.hold_id, w.due_at, n.at, n.now_ms
    from taken t
    join held h on h.lane_id = t.lane_id
    join newest w on w.lane_id = t.lane_id
    join tidemark.resource r on r.resource_id = t.resource_id
   cross join (select tidemark.now() as at, extract(epoch from tidemark.now())::float8 * 1000 as now_ms) n;
end
$$;

comment on function tidemark.claim is 'Leases due rows, up to so many of each lane, most overdue or first come first; lists them in a hold; drops holds that are over.';

create function tidemark.finish(
  lane int, first_come boolean, wakes boolean, floors boolean, is_fresh boolean, failed smallint, keeps_place boolean, locked boolean,
  places tid[], ids bigint[], nos bigint[], waits_ms float8[], mails_done bigint[]
) returns bigint[]
  language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
  as $$
#variable_conflict use_column
declare
  done bigint[];
  moved record;
begin
  with ended as (
    update tidemark.due d
       set lease_until = null,
           worker_id = null,
           not_before = greatest(case when d.not_before > tidemark.now() then d.not_before else '-infinity' end,
                                 case when floors then e.at end),
           due_at = greatest(case when wakes and d.mail_seq > e.mail_done then tidemark.now() else e.at end,
                             case when d.not_before > tidemark.now() then d.not_before end),
           fresh_at = case when is_fresh then d.tried_at else d.fresh_at end,
           failures = failed,
           lane_id = lane,
           mail_done = e.mail_done,
           asked_at = case when not first_come then null
                           when keeps_place then coalesce(d.asked_at, tidemark.now())
                           else greatest(case when wakes and d.mail_seq > e.mail_done then tidemark.now() else e.at end,
                                         case when d.not_before > tidemark.now() then d.not_before end) end
      from (select f.place, f.resource_id, f.lease_no, f.mail_done, tidemark.now() + f.wait_ms * interval '1 millisecond' as at
              from unnest(places, ids, nos, waits_ms, mails_done) as f(place, resource_id, lease_no, wait_ms, mail_done)) e
     where d.ctid = e.place and d.resource_id = e.resource_id and d.lease_no = e.lease_no
       and (locked and d.lease_until is not null or d.lease_until > tidemark.now())
    returning d.resource_id
  )
  select coalesce(array_agg(resource_id), '{}') into done from ended;
  if cardinality(done) = cardinality(ids) then
    return done;
  end if;
  -- Those that mail or a renewal moved since they were claimed, at the place where they are now.
  select array_agg(m.place) as places, array_agg(m.resource_id) as ids, array_agg(m.lease_no) as nos,
         array_agg(m.wait_ms) as waits_ms, array_agg(m.mail_done) as mails_done
    into moved
    from (select d.ctid as place, f.resource_id, f.lease_no, f.wait_ms, f.mail_done
            from unnest(ids, nos, waits_ms, mails_done) as f(resource_id, lease_no, wait_ms, mail_done)
            join tidemark.due d on d.resource_id = f.resource_id and d.lease_no = f.lease_no
           where f.resource_id <> all(done) and (locked and d.lease_until is not null or d.lease_until > tidemark.now())
           order by f.resource_id for update of d) m;
  if moved.ids is null then
    return done;
  end if;
  return done || tidemark.finish(lane, first_come, wakes, floors, is_fresh, failed, keeps_place, locked,
                                 moved.places, moved.ids, moved.nos, moved.waits_ms, moved.mails_done);
end
$$;

comment on function tidemark.finish is 'Ends pulls that end alike, where the lease is still theirs, and says whose did. Mail that came meanwhile makes a resource due at once.';

create function tidemark.take_off(places tid[], ids bigint[], seqs bigint[]) returns void
  language plpgsql
  set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
  as $$
declare
  taken bigint;
begin
  delete from tidemark.message m
   using unnest(places, ids, seqs) as h(place, resource_id, seq)
   where m.ctid = h.place and m.resource_id = h.resource_id and m.seq = h.seq;
  get diagnostics taken = row_count;
  if taken < cardinality(ids) then
    delete from tidemark.message m
     using unnest(ids, seqs) as h(resource_id, seq)
     where m.resource_id = h.resource_id and m.seq = h.seq;
  end if;
end
$$;

comment on function tidemark.take_off is 'Deletes handled messages where they were read, and those that moved since by their number.';
