/** The tables of the simulated source: they count every effect, so that one that happens twice shows. */
export const simulationSchema = `
  create schema sim;
  create table sim.event (stream text, n int, value text, primary key (stream, n));
  create table sim.applied (stream text, n int, times int not null, primary key (stream, n));
  create table sim.posted (box text, n int, position bigint not null, stream text not null, coalesced boolean not null);
  create table sim.handled (ordinal bigint generated always as identity, box text, n int);
  create table sim.entry (stream text, n int, published_at timestamptz, primary key (stream, n));
  create table sim.breach (what text not null);
  create table sim.mark (resource_id bigint primary key, position bigint not null);
  create table sim.charge (resource_id bigint not null);
  create function sim.note_charge() returns trigger language plpgsql as
    'begin insert into sim.charge (resource_id) values (new.resource_id); return new; end';
  create trigger note_charge after update of failures on tidemark.due
    for each row when (new.failures > old.failures) execute function sim.note_charge();
`;

/** Everything that one seed leaves behind. */
export const simulationReset = `
  truncate sim.event, sim.applied, sim.posted, sim.handled, sim.entry, sim.breach, sim.mark, sim.charge,
    tidemark.resource, tidemark.due, tidemark.edge, tidemark.message, tidemark.tidemark, tidemark.skip, tidemark.feed,
    tidemark.worker, tidemark.pull, tidemark.pull_count, tidemark.progress, tidemark.lane, tidemark.upstream restart identity cascade;
`;
