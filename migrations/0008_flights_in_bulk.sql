-- Calls at once: as many places as a process has use for, in one statement.

-- Takes up to `most` places among the calls that may be out, for `flight_ms`; none where all are taken, null where nobody declared the budget.
-- They are counted in a statement after the lock: counted with it, two processes would both see room.
create function tidemark.take_flights(of_budget text, most int, flight_ms float8) returns bigint[]
  language plpgsql
as $$
declare
  moment timestamptz := tidemark.now();
  room float8;
  free int;
  taken bigint[];
begin
  select t.room into room from tidemark.budget t where t.budget = of_budget for update;
  if not found then
    return null;
  end if;
  select room - count(f.flight_id) into free from tidemark.flight f where f.budget = of_budget and f.until > moment;
  if free < 1 then
    update tidemark.budget t set refused_at[1] = moment, refused_ms[1] = 10 where t.budget = of_budget;
    return '{}';
  end if;
  with made as (
    insert into tidemark.flight (budget, until)
    select of_budget, moment + flight_ms * interval '1 millisecond' from generate_series(1, least(free, most))
    returning flight_id
  )
  select array_agg(m.flight_id order by m.flight_id) into taken from made m;
  return taken;
end $$;

comment on function tidemark.take_flights(text, int, float8) is 'Places among the calls that may be out at once.';
