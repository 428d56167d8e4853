/** How much of everything the engine's benchmark takes, in full and in a hurry. */

export interface Scale {
  /** A part that may not end in time is left out, and its figures are null. */
  whole_ms: number;
  resources: number;
  /** Jobs that the peers run in each round. */
  jobs: number;
  processes: number[];
  rounds: number;
  warm_ms: number;
  measured_ms: number;
  /** Ours is run beside each peer, and a peer under a held snapshot, too. */
  beside_each: boolean;
  peers_held: boolean;
  boxes: number;
  messages: number;
  hot_messages: number;
  ordered_rounds: number;
  ordered_ms: number;
  peers_ordered: boolean;
  few_resources: number;
  many_resources: number;
  /** Enough claims for a 99th percentile to mean something. */
  claims_tell: boolean;
  claims_ms: number;
  embedded_resources: number;
  embedded_slots: number[];
  embedded_ms: number;
}

export const full: Scale = {
  whole_ms: Number.POSITIVE_INFINITY,
  resources: 1_000_000,
  jobs: 1_000_000,
  processes: [1, 2],
  rounds: 3,
  warm_ms: 2_000,
  measured_ms: 20_000,
  beside_each: true,
  peers_held: true,
  boxes: 20_000,
  messages: 200_000,
  hot_messages: 200_000,
  ordered_rounds: 3,
  ordered_ms: 30_000,
  peers_ordered: true,
  few_resources: 1_000_000,
  many_resources: 10_000_000,
  claims_tell: true,
  claims_ms: 20_000,
  embedded_resources: 100_000,
  embedded_slots: [10, 100, 1_000],
  embedded_ms: 10_000,
};

export const quick: Scale = {
  whole_ms: 48_000,
  resources: 60_000,
  jobs: 40_000,
  processes: [2],
  rounds: 1,
  warm_ms: 700,
  measured_ms: 900,
  beside_each: false,
  peers_held: false,
  boxes: 4_000,
  messages: 40_000,
  hot_messages: 20_000,
  ordered_rounds: 1,
  ordered_ms: 1_500,
  peers_ordered: false,
  few_resources: 6_000,
  many_resources: 60_000,
  claims_tell: false,
  claims_ms: 1_000,
  embedded_resources: 5_000,
  embedded_slots: [1_000],
  embedded_ms: 1_000,
};
