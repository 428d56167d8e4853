-- How the fleet behaves towards upstreams: what it may send, in which shares, when it was told to wait, whether an upstream is well.
--
-- A `budget` is one allowance: of an upstream, or of one account, host or group behind it. All its arithmetic is here, in functions
-- of one row and a moment, so that one statement takes from several budgets or from none, and a worker that freezes holds no lock.
-- docs/adr/0008 explains it. Workers draw small grants: what a grant holds is taken when it is drawn, spent within `life_ms` and given
-- back when it is not; what a dead worker held counts as spent. A `flight` is one call that is out now: bounds on calls at once
-- are counted from these rows, which end by themselves. A `credential` remembers whose account a token belongs to, by a keyed
-- digest; no token is ever stored.
--
-- Lock order: budgets by name, each taken by a statement of its own, never inside a transaction that holds anything else.

alter table tidemark.upstream
  add column breaker text not null default 'closed' check (breaker in ('closed', 'open', 'probing')),
  add column breaker_no bigint not null default 0,
  add column failing bigint[] not null default '{}',
  add column well_by bigint,
  add column well_at timestamptz,
  add column other_well_at timestamptz,
  add column struck_at timestamptz;

comment on column tidemark.upstream.breaker_no is 'Raised with each change: whoever changes it names the one that he saw.';
comment on column tidemark.upstream.failing is 'Resources that failed here since anybody succeeded; three different ones open the breaker.';
comment on column tidemark.upstream.other_well_at is 'When a resource other than well_by last succeeded here.';
comment on column tidemark.upstream.strikes is 'How often we were put off without being told for how long; each doubles the wait.';

drop table tidemark.budget;

create table tidemark.budget (
  budget text primary key,
  upstream text not null,
  shape text not null check (shape in ('pace', 'window', 'gap', 'flights', 'account')),
  -- As declared.
  room double precision not null,
  per_ms double precision not null default 0,
  period_ms double precision not null default 0,
  life_ms double precision not null,
  share text[] not null,
  reserved double precision[] not null,
  capacity double precision[] not null,
  -- As it stands.
  at timestamptz not null default tidemark.now(),
  level double precision[] not null,
  lent double precision not null default 0,
  window_no bigint not null default 0,
  window_until timestamptz not null default '-infinity',
  said_room double precision,
  foreign_used double precision not null default 0,
  free_at timestamptz not null default '-infinity',
  closed_until timestamptz,
  closed_reason text,
  closed_at timestamptz,
  strikes int not null default 0,
  total double precision not null default 0,
  refused_at timestamptz[] not null,
  refused_ms double precision[] not null,
  constraint budget_shares check (
    cardinality(share) = cardinality(reserved) and cardinality(share) = cardinality(capacity)
    and cardinality(share) = cardinality(level) and cardinality(share) = cardinality(refused_at) and cardinality(share) = cardinality(refused_ms))
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);

comment on table tidemark.budget is 'One allowance over all workers, with a bucket for each share; the last share, '''', is of calls that name none.';
comment on column tidemark.budget.room is 'pace: what all buckets hold together; window: what may be spent in it; flights, gap: how many at once.';
comment on column tidemark.budget.level is 'pace: what is in each share''s bucket; window: what each share has spent.';
comment on column tidemark.budget.lent is 'pace: what overflowed from full buckets and anybody may take.';
comment on column tidemark.budget.foreign_used is 'window: what the upstream counted and we did not spend.';

create index budget_by_upstream on tidemark.budget (upstream);

create table tidemark.flight (
  flight_id bigint generated always as identity primary key,
  budget text not null,
  until timestamptz not null
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);

comment on table tidemark.flight is 'A call that is out now, under a bound on calls at once; renewed by its worker, or over when it ends.';

create index flight_by_budget on tidemark.flight (budget, until);

create table tidemark.credential (
  host text not null,
  digest text not null,
  account text,
  revoked_at timestamptz,
  seen_at timestamptz not null default tidemark.now(),
  primary key (host, digest)
);

comment on table tidemark.credential is 'Whose account a token is, by a keyed digest of the token; never the token.';

create table tidemark.digest_key (
  one boolean primary key default true check (one),
  key text not null
);

comment on table tidemark.digest_key is 'What tokens are digested with: digests of two installations cannot be compared.';

-- A budget as it stands at a moment: buckets filled, or the window over.
create function tidemark.budget_at(b tidemark.budget, moment timestamptz) returns tidemark.budget
  language plpgsql immutable
as $$
declare
  passed_ms float8 := greatest(0, extract(epoch from moment - b.at) * 1000);
  held float8 := 0;
begin
  if b.shape = 'pace' then
    for i in 1 .. cardinality(b.share) loop
      b.level[i] := b.level[i] + b.per_ms * b.reserved[i] * passed_ms;
      if b.level[i] > b.capacity[i] then
        b.lent := b.lent + b.level[i] - b.capacity[i];
        b.level[i] := b.capacity[i];
      end if;
      held := held + greatest(0, b.level[i]);
    end loop;
    b.lent := greatest(0, least(b.lent, b.room - held));
  elsif b.shape = 'window' and moment >= b.window_until then
    b.level := array_fill(0::float8, array[cardinality(b.share)]);
    b.foreign_used := 0;
  end if;
  b.at := greatest(b.at, moment);
  return b;
end $$;

-- What a window allows: no more than declared, and no more than the upstream says.
create function tidemark.budget_room(b tidemark.budget) returns float8
  language plpgsql immutable
as $$
begin
  return case when b.shape = 'window' then least(b.room, coalesce(b.said_room, b.room)) else b.room end;
end $$;

-- What a window keeps for the other shares: their unspent reserves, released in proportion to the time gone.
create function tidemark.budget_kept(b tidemark.budget, mine int) returns float8
  language plpgsql immutable
as $$
declare
  room float8 := tidemark.budget_room(b);
  kept float8 := 0;
  rest float8 := 1;
begin
  if b.shape <> 'window' then
    return 0;
  end if;
  if b.window_until > b.at then
    rest := least(1, extract(epoch from b.window_until - b.at) * 1000 / b.period_ms);
  end if;
  for i in 1 .. cardinality(b.share) loop
    if i <> mine then
      kept := kept + greatest(0, b.reserved[i] * room - b.level[i]) * rest;
    end if;
  end loop;
  return kept;
end $$;

-- What a share could take now, of a budget as it stands; below none where it is in debt.
create function tidemark.budget_left(b tidemark.budget, mine int) returns float8
  language plpgsql immutable
as $$
begin
  return case b.shape
    when 'pace' then b.level[mine] + b.lent
    when 'window' then tidemark.budget_room(b) - b.foreign_used
                       - (select sum(l) from unnest(b.level) as l) - tidemark.budget_kept(b, mine)
    else 1e15
  end;
end $$;

-- What must be there before a share takes `cost`: a cost beyond what its bucket holds is let through when the bucket is full.
create function tidemark.budget_needs(b tidemark.budget, mine int, cost float8) returns float8
  language plpgsql immutable
as $$
declare
  room float8 := tidemark.budget_room(b);
begin
  return case b.shape
    when 'pace' then least(cost, b.capacity[mine])
    when 'window' then least(cost, greatest(0, room - (
      select coalesce(sum(r * room), 0) from unnest(b.reserved) with ordinality as x(r, i) where i <> mine)))
    else 0
  end;
end $$;

-- How long until a share can take `cost`, if nobody else takes anything.
create function tidemark.budget_wait_ms(b tidemark.budget, mine int, cost float8) returns float8
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
    rest_ms := greatest(0, extract(epoch from b.window_until - b.at) * 1000);
    kept := tidemark.budget_kept(b, mine);
    return case when kept > short then rest_ms * short / kept else rest_ms end;
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

-- A budget after a share took `units`: from its own bucket first, then from what is lent.
create function tidemark.budget_taken(b tidemark.budget, mine int, units float8) returns tidemark.budget
  language plpgsql immutable
as $$
declare
  own float8;
  borrowed float8;
begin
  if b.shape = 'pace' then
    own := least(greatest(0, b.level[mine]), units);
    borrowed := least(b.lent, units - own);
    b.level[mine] := b.level[mine] - (units - borrowed);
    b.lent := b.lent - borrowed;
  elsif b.shape = 'window' then
    if b.at >= b.window_until then
      b.window_until := b.at + b.period_ms * interval '1 millisecond';
      b.window_no := b.window_no + 1;
    end if;
    b.level[mine] := b.level[mine] + units;
  end if;
  b.total := b.total + units;
  return b;
end $$;

-- Takes from several budgets or from none. `need` is what the first call in line costs, `demand` what all that wait cost, `ahead` what
-- may be drawn for calls yet to come: at most a quarter of what is left then. `back` is what an older grant leaves unspent.
create function tidemark.take(
  of_upstream text, probe boolean, budgets text[], of_share text, need float8[], demand float8[], ahead float8[],
  back float8[], back_no bigint[], flight_ms float8,
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
  number bigint;
begin
  granted := array_fill(0::float8, array[cardinality(budgets)]);
  nos := array_fill(0::bigint, array[cardinality(budgets)]);
  flights := '{}';
  life_ms := 500;
  wait_ms := 0;
  known := 0;
  for b in select (t).* from tidemark.budget t where t.budget = any(budgets) order by t.budget for update loop
    known := known + 1;
    b := tidemark.budget_at(b, moment);
    k := array_position(budgets, b.budget);
    mine := coalesce(array_position(b.share, of_share), cardinality(b.share));
    if back[k] > 0 then
      b := tidemark.budget_returned(b, mine, back[k], back_no[k]);
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
      life_ms := least(life_ms, b.life_ms);
      if b.shape = 'window' then
        life_ms := least(life_ms, extract(epoch from b.window_until - moment) * 1000);
      elsif b.shape in ('gap', 'flights') then
        insert into tidemark.flight (budget, until) values (b.budget, moment + flight_ms * interval '1 millisecond')
        returning flight_id into number;
        flights := flights || number;
      end if;
    end if;
    if b.shape not in ('gap', 'flights', 'account') or wait_ms > 0 then
      update tidemark.budget t
         set at = b.at, level = b.level, lent = b.lent, window_no = b.window_no, window_until = b.window_until,
             foreign_used = b.foreign_used, total = b.total, refused_at = b.refused_at, refused_ms = b.refused_ms
       where t.budget = b.budget;
    end if;
  end loop;
end $$;

-- A budget after units came back; fewer than none are units that a call cost beyond what it had taken.
create function tidemark.budget_returned(b tidemark.budget, mine int, units float8, no bigint) returns tidemark.budget
  language plpgsql immutable
as $$
begin
  if b.shape = 'pace' then
    b.level[mine] := b.level[mine] + units;
    b := tidemark.budget_at(b, b.at);
    b.total := b.total - units;
  elsif b.shape = 'window' and no = b.window_no and b.window_until > b.at then
    b.level[mine] := greatest(0, b.level[mine] - units);
    b.total := b.total - units;
  end if;
  return b;
end $$;

-- Gives back what was not spent, or takes what a call cost beyond it.
create function tidemark.give_back(budgets text[], of_share text, units float8[], nos bigint[]) returns void
  language plpgsql
as $$
declare
  b tidemark.budget;
  k int;
begin
  for b in select (t).* from tidemark.budget t where t.budget = any(budgets) order by t.budget for update loop
    k := array_position(budgets, b.budget);
    b := tidemark.budget_at(b, tidemark.now());
    b := tidemark.budget_returned(b, coalesce(array_position(b.share, of_share), cardinality(b.share)), units[k], nos[k]);
    update tidemark.budget t
       set at = b.at, level = b.level, lent = b.lent, foreign_used = b.foreign_used, total = b.total where t.budget = b.budget;
  end loop;
end $$;

-- Corrects a budget by what the upstream says is left of it; what belongs to an earlier window is old news.
create function tidemark.correct(of_budget text, no bigint, said float8, remaining float8, reset_ms float8) returns void
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
     set at = b.at, level = b.level, lent = b.lent, window_until = b.window_until, said_room = b.said_room, foreign_used = b.foreign_used
   where t.budget = b.budget;
end $$;
