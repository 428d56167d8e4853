-- What was drawn and may still be on its way counts, so that no stretch of time holds more than was declared.
--
-- `out_units` says how much was drawn of a budget and until when it counts (`out_until`, in this order). Of a pace it counts for as long as
-- its grant lives: what is in the buckets and what is out are never more than the burst together, whatever is given back, and when. Of a
-- window it counts for its period from then on, unless the upstream told when its own window ends: then all of it is over at that
-- moment. docs/adr/0008 has the proof. A worker of the release before calls the same functions with fewer arguments.
--
-- Beside it, for how long an upstream itself asked us to wait: whoever tests it must not forget that.

alter table tidemark.budget
  add column burst double precision,
  add column out_share int[] not null default '{}',
  add column out_units double precision[] not null default '{}',
  add column out_until timestamptz[] not null default '{}',
  add column told boolean not null default false,
  add constraint budget_out check (
    cardinality(out_share) = cardinality(out_units) and cardinality(out_share) = cardinality(out_until));

comment on column tidemark.budget.burst is 'pace: as declared; buckets and what is out are never more together.';
comment on column tidemark.budget.out_units is 'What was drawn of late, by share, and counts until out_until.';
comment on column tidemark.budget.told is 'window: the upstream said when this window ends; then what was spent in it is over, too.';
comment on column tidemark.budget.level is 'pace: what is in each share''s bucket; window: what each share has spent and counts still.';

-- What was spent of windows under way ends with them, as it would have.
update tidemark.budget b
   set out_share = array(select i::int from generate_subscripts(b.level, 1) as i), out_units = b.level,
       out_until = array_fill(b.window_until, array[cardinality(b.level)])
 where b.shape = 'window';

alter table tidemark.upstream
  add column asked_until timestamptz,
  add column asked_reason text;

comment on column tidemark.upstream.asked_until is 'Until when the upstream itself asked us to wait; it holds whatever becomes of the breaker.';

-- A budget as it stands at a moment: buckets filled, what is over forgotten.
create or replace function tidemark.budget_at(b tidemark.budget, moment timestamptz) returns tidemark.budget
  language plpgsql immutable
as $$
declare
  passed_ms float8 := greatest(0, extract(epoch from moment - b.at) * 1000);
  whole float8 := coalesce(b.burst, b.room + b.per_ms * b.life_ms);
  outside float8 := 0;
  most float8 := whole;
  was float8[];
  held float8 := 0;
  gained float8 := 0;
  over int := 0;
begin
  if b.shape = 'pace' then
    for j in 1 .. cardinality(b.out_units) loop
      outside := outside + b.out_units[j];
    end loop;
    -- At each moment since, buckets and what was out then held no more than the burst; from there they filled.
    for j in 1 .. cardinality(b.out_until) loop
      exit when b.out_until[j] > moment;
      most := least(most, whole - outside + b.per_ms * extract(epoch from moment - b.out_until[j]) * 1000);
      outside := outside - b.out_units[j];
      over := j;
    end loop;
    most := greatest(0, least(most, whole - outside));
    was := b.level;
    for i in 1 .. cardinality(b.share) loop
      b.level[i] := b.level[i] + b.per_ms * b.reserved[i] * passed_ms;
      if b.level[i] > b.capacity[i] then
        b.lent := b.lent + b.level[i] - b.capacity[i];
        b.level[i] := b.capacity[i];
      end if;
      held := held + greatest(0, b.level[i]);
      gained := gained + greatest(0, b.level[i]) - greatest(0, was[i]);
    end loop;
    b.lent := greatest(0, least(b.lent, b.room - held, most - held));
    -- What there is no room for was not gained: a bucket that was full stays full.
    if held > most and gained > 0 then
      for i in 1 .. cardinality(b.share) loop
        b.level[i] := b.level[i] - (greatest(0, b.level[i]) - greatest(0, was[i])) * least(1, (held - most) / gained);
      end loop;
    end if;
  elsif b.shape = 'window' then
    for j in 1 .. cardinality(b.out_until) loop
      exit when b.out_until[j] > moment;
      b.level[b.out_share[j]] := greatest(0, b.level[b.out_share[j]] - b.out_units[j]);
      over := j;
    end loop;
    if moment >= b.window_until then
      b.foreign_used := 0;
      if b.told then
        b.level := array_fill(0::float8, array[cardinality(b.share)]);
        over := cardinality(b.out_until);
        b.told := false;
      end if;
    end if;
  end if;
  if over > 0 then
    b.out_share := b.out_share[over + 1:];
    b.out_units := b.out_units[over + 1:];
    b.out_until := b.out_until[over + 1:];
  end if;
  b.at := greatest(b.at, moment);
  return b;
end $$;

-- A budget that remembers what was drawn, until a moment; moments are rounded up, so that there are few of them.
create function tidemark.budget_noted(b tidemark.budget, mine int, units float8, until timestamptz, step_ms float8)
  returns tidemark.budget
  language plpgsql immutable
as $$
declare
  ends timestamptz := to_timestamp(ceil(extract(epoch from until)::float8 * 1000 / step_ms) * step_ms / 1000);
  k int := cardinality(b.out_until);
begin
  while k > 0 and b.out_until[k] > ends loop
    k := k - 1;
  end loop;
  for j in reverse k .. 1 loop
    exit when b.out_until[j] < ends;
    if b.out_share[j] = mine then
      b.out_units[j] := b.out_units[j] + units;
      return b;
    end if;
  end loop;
  b.out_share := b.out_share[:k] || mine || b.out_share[k + 1:];
  b.out_units := b.out_units[:k] || units || b.out_units[k + 1:];
  b.out_until := b.out_until[:k] || ends || b.out_until[k + 1:];
  return b;
end $$;

-- How long until a share can take `cost`, if nobody else takes anything.
create or replace function tidemark.budget_wait_ms(b tidemark.budget, mine int, cost float8) returns float8
  language plpgsql immutable
as $$
declare
  short float8 := tidemark.budget_needs(b, mine, cost) - tidemark.budget_left(b, mine);
  kept float8;
  rest_ms float8;
  speed float8;
  full_ms float8;
  next_ms float8;
  wait_ms float8 := 0;
begin
  if short <= 1e-9 then
    return 0;
  end if;
  if b.shape = 'window' then
    rest_ms := extract(epoch from b.window_until - b.at) * 1000;
    kept := tidemark.budget_kept(b, mine);
    if rest_ms > 0 and (b.told or kept > short) then
      wait_ms := case when kept > short then rest_ms * short / kept else rest_ms end;
    end if;
    -- Unless we were told, nothing begins anew at the end of a window: what was spent is over bit by bit.
    if not b.told then
      for j in 1 .. cardinality(b.out_until) loop
        short := short - b.out_units[j];
        next_ms := extract(epoch from b.out_until[j] - b.at) * 1000;
        exit when short <= 1e-9;
      end loop;
    end if;
    return greatest(1, coalesce(least(nullif(wait_ms, 0), next_ms), rest_ms));
  end if;
  -- Another share's part flows over to us from the moment that its bucket is full.
  loop
    speed := b.per_ms * b.reserved[mine];
    next_ms := null;
    for i in 1 .. cardinality(b.share) loop
      continue when i = mine or b.reserved[i] = 0;
      full_ms := (b.capacity[i] - b.level[i]) / (b.per_ms * b.reserved[i]);
      if full_ms <= wait_ms then
        speed := speed + b.per_ms * b.reserved[i];
      else
        next_ms := least(next_ms, full_ms);
      end if;
    end loop;
    if next_ms is null or short <= speed * (next_ms - wait_ms) then
      return wait_ms + short / speed;
    end if;
    short := short - speed * (next_ms - wait_ms);
    wait_ms := next_ms;
  end loop;
end $$;

-- A budget after units came back that were drawn so long ago; fewer than none are units that a call cost beyond what it had taken. Of a
-- pace they go into the bucket, as far as what is out leaves room for them. Of a window they are taken off where they were noted, or later.
drop function tidemark.budget_returned;

create function tidemark.budget_returned(b tidemark.budget, mine int, units float8, no bigint, age_ms float8) returns tidemark.budget
  language plpgsql immutable
as $$
declare
  since timestamptz := coalesce(b.at - (age_ms - b.period_ms) * interval '1 millisecond', '-infinity');
  left_over float8 := units;
  part float8 := 0;
begin
  if b.shape = 'pace' then
    for i in 1 .. cardinality(b.share) loop
      part := part + greatest(0, b.level[i]);
    end loop;
    for j in 1 .. cardinality(b.out_units) loop
      part := part + b.out_units[j];
    end loop;
    b.level[mine] := b.level[mine] + least(
      units, greatest(0, coalesce(b.burst, b.room + b.per_ms * b.life_ms) - part - b.lent) + greatest(0, -b.level[mine]));
    b := tidemark.budget_at(b, b.at);
    b.total := b.total - units;
  elsif b.shape = 'window' and no = b.window_no and b.window_until > b.at then
    if units < 0 then
      b := tidemark.budget_noted(b, mine, -units, b.at + b.period_ms * interval '1 millisecond', greatest(1, b.period_ms / 16));
      left_over := 0;
    end if;
    for j in 1 .. cardinality(b.out_until) loop
      exit when left_over <= 0;
      continue when b.out_share[j] <> mine or b.out_until[j] < since;
      part := least(left_over, b.out_units[j]);
      b.out_units[j] := b.out_units[j] - part;
      left_over := left_over - part;
    end loop;
    b.level[mine] := greatest(0, b.level[mine] - (units - left_over));
    b.total := b.total - units;
  end if;
  return b;
end $$;

-- Gives back what was not spent, or takes what a call cost beyond it.
drop function tidemark.give_back;

create function tidemark.give_back(budgets text[], of_share text, units float8[], nos bigint[], age_ms float8 default null) returns void
  language plpgsql
as $$
declare
  b tidemark.budget;
  k int;
begin
  for b in select (t).* from tidemark.budget t where t.budget = any(budgets) order by t.budget for update loop
    k := array_position(budgets, b.budget);
    b := tidemark.budget_at(b, tidemark.now());
    b := tidemark.budget_returned(b, coalesce(array_position(b.share, of_share), cardinality(b.share)), units[k], nos[k], age_ms);
    update tidemark.budget t
       set at = b.at, level = b.level, lent = b.lent, foreign_used = b.foreign_used, total = b.total,
           out_share = b.out_share, out_units = b.out_units, out_until = b.out_until, told = b.told
     where t.budget = b.budget;
  end loop;
end $$;

-- Takes from several budgets or from none. `need` is what the first call in line costs, `demand` what all that wait cost, `ahead` what
-- may be drawn for calls yet to come: at most a quarter of what is left then. `back` is what an older grant leaves unspent, which was drawn
-- `back_age_ms` ago. Whoever knows that answers come late asks for a grant that lives longer (`wanted_ms`), and it counts as long.
drop function tidemark.take;

create function tidemark.take(
  of_upstream text, probe boolean, budgets text[], of_share text, need float8[], demand float8[], ahead float8[],
  back float8[], back_no bigint[], flight_ms float8, wanted_ms float8 default 0, back_age_ms float8 default null,
  out granted float8[], out nos bigint[], out flights bigint[], out life_ms float8,
  out wait_ms float8, out refused text, out why text, out said text, out per_ms float8, out breaker text, out failing int, out known int)
  language plpgsql
as $$
declare
  moment timestamptz := tidemark.now();
  b tidemark.budget;
  rows tidemark.budget[] := '{}';
  up tidemark.upstream;
  mine int;
  k int;
  w float8;
  units float8;
  spare float8;
  lives_ms float8;
  number bigint;
begin
  granted := array_fill(0::float8, array[cardinality(budgets)]);
  nos := array_fill(0::bigint, array[cardinality(budgets)]);
  flights := '{}';
  life_ms := greatest(500, wanted_ms);
  wait_ms := 0;
  known := 0;
  for b in select (t).* from tidemark.budget t where t.budget = any(budgets) order by t.budget for update loop
    known := known + 1;
    b := tidemark.budget_at(b, moment);
    k := array_position(budgets, b.budget);
    mine := coalesce(array_position(b.share, of_share), cardinality(b.share));
    if back[k] > 0 then
      b := tidemark.budget_returned(b, mine, back[k], back_no[k], back_age_ms);
    end if;
    w := tidemark.budget_wait_ms(b, mine, need[k]);
    why := case when w > 0 and wait_ms < w then 'spent' else why end;
    if b.shape in ('gap', 'flights') and (
         b.free_at > moment or (select count(f.flight_id) from tidemark.flight f where f.budget = b.budget and f.until > moment) >= b.room) then
      w := greatest(10, case when b.free_at > moment then extract(epoch from b.free_at - moment) * 1000 else least(b.period_ms, 200) end);
      why := case when wait_ms < w then 'out' else why end;
    end if;
    if b.closed_until > moment and extract(epoch from b.closed_until - moment) * 1000 > w then
      w := extract(epoch from b.closed_until - moment) * 1000;
      why := case when wait_ms < w then 'closed' else why end;
      said := case when wait_ms < w then b.closed_reason else said end;
    end if;
    if w > wait_ms then
      wait_ms := w;
      refused := b.budget;
      per_ms := b.per_ms * b.reserved[mine];
    end if;
    if w > 0 then
      b.refused_at[mine] := moment;
      b.refused_ms[mine] := w;
    end if;
    rows := rows || b;
  end loop;
  -- Read after the locks: what closed the upstream meanwhile is seen.
  select (u).* into up from tidemark.upstream u where u.upstream = of_upstream;
  breaker := coalesce(up.breaker, 'closed');
  failing := coalesce(cardinality(up.failing), 0);
  if not probe and up.closed_until > moment and extract(epoch from up.closed_until - moment) * 1000 >= wait_ms then
    wait_ms := extract(epoch from up.closed_until - moment) * 1000;
    refused := of_upstream;
    why := 'shut';
    said := up.closed_reason;
  elsif not probe and breaker <> 'closed' then
    wait_ms := greatest(wait_ms, 1);
    refused := of_upstream;
    why := 'probe';
  end if;
  foreach b in array rows loop
    k := array_position(budgets, b.budget);
    mine := coalesce(array_position(b.share, of_share), cardinality(b.share));
    if wait_ms = 0 and known = cardinality(budgets) then
      spare := tidemark.budget_left(b, mine) - need[k];
      units := need[k] + greatest(0, least(demand[k] - need[k], spare));
      units := units + greatest(0, least(ahead[k], (spare - (units - need[k])) / 4));
      b := tidemark.budget_taken(b, mine, units);
      granted[k] := units;
      nos[k] := b.window_no;
      lives_ms := greatest(b.life_ms, wanted_ms);
      if b.shape = 'pace' then
        -- A fifth of it is for rounding up. What a call costs beyond its bucket is a debt, and not counted as out.
        lives_ms := greatest(b.life_ms * 0.8, wanted_ms);
        b := tidemark.budget_noted(b, 0, least(units, greatest(0, spare + need[k])), moment + lives_ms * interval '1 millisecond', lives_ms / 4);
      elsif b.shape = 'window' then
        if b.told then
          lives_ms := least(lives_ms, extract(epoch from b.window_until - moment) * 1000);
        end if;
        b := tidemark.budget_noted(
          b, mine, units, moment + (b.period_ms + lives_ms) * interval '1 millisecond', greatest(1, b.period_ms / 16));
      elsif b.shape in ('gap', 'flights') then
        insert into tidemark.flight (budget, until) values (b.budget, moment + flight_ms * interval '1 millisecond')
        returning flight_id into number;
        flights := flights || number;
      end if;
      life_ms := least(life_ms, lives_ms);
    end if;
    if b.shape not in ('gap', 'flights', 'account') or wait_ms > 0 then
      update tidemark.budget t
         set at = b.at, level = b.level, lent = b.lent, window_no = b.window_no, window_until = b.window_until,
             foreign_used = b.foreign_used, total = b.total, refused_at = b.refused_at, refused_ms = b.refused_ms,
             out_share = b.out_share, out_units = b.out_units, out_until = b.out_until, told = b.told
       where t.budget = b.budget;
    end if;
  end loop;
end $$;

-- Corrects a budget by what the upstream says is left of it; what belongs to an earlier window is old news.
create or replace function tidemark.correct(of_budget text, no bigint, said float8, remaining float8, reset_ms float8) returns void
  language plpgsql
as $$
declare
  b tidemark.budget;
  spent float8;
  held float8;
begin
  select (t).* into b from tidemark.budget t where t.budget = of_budget for update;
  if not found then
    return;
  end if;
  b := tidemark.budget_at(b, tidemark.now());
  if b.shape = 'window' and no = b.window_no and b.window_until > b.at then
    b.said_room := coalesce(said, b.said_room);
    select sum(l) into spent from unnest(b.level) as l;
    if remaining is not null then
      b.foreign_used := greatest(b.foreign_used, coalesce(said, tidemark.budget_room(b)) - remaining - spent);
    end if;
    if reset_ms > 0 then
      b.window_until := b.at + reset_ms * interval '1 millisecond';
      b.told := true;
    end if;
  elsif b.shape = 'pace' and remaining is not null then
    select sum(greatest(0, l)) into held from unnest(b.level) as l;
    if b.lent + held > remaining then
      b.lent := greatest(0, least(b.lent, remaining - held));
      if held > remaining then
        select array_agg(case when l > 0 then l * greatest(0, remaining) / held else l end order by i)
          into b.level from unnest(b.level) with ordinality as x(l, i);
      end if;
    end if;
  end if;
  update tidemark.budget t
     set at = b.at, level = b.level, lent = b.lent, window_until = b.window_until, said_room = b.said_room, foreign_used = b.foreign_used,
         out_share = b.out_share, out_units = b.out_units, out_until = b.out_until, told = b.told
   where t.budget = b.budget;
end $$;
