/** A simple model of one lane: what each resource's lease, cursor, mailbox and pause should be after any commands. */

export const TTL = 1_000;

export interface ModelResource {
  lease_no: number;
  /** When the lease ends; null when there is none. */
  until_ms: number | null;
  due_ms: number;
  not_before_ms: number;
  paused: boolean;
  /** The floor that holds once it is resumed. */
  floor_ms: number;
  cursor: number;
  failures: number;
  /** Messages that wait, in order. */
  mail: number[];
  handled: number[];
}

export class Model {
  now_ms = 0;
  posted = 0;
  readonly resources = new Map<string, ModelResource>();

  constructor(keys: string[]) {
    for (const key of keys)
      this.resources.set(key, {
        lease_no: 0,
        until_ms: null,
        due_ms: 0,
        not_before_ms: Number.NEGATIVE_INFINITY,
        paused: false,
        floor_ms: Number.NEGATIVE_INFINITY,
        cursor: 0,
        failures: 0,
        mail: [],
        handled: [],
      });
  }

  of(key: string): ModelResource {
    return this.resources.get(key)!;
  }

  /** Those that a claim of everything takes. */
  claimable(): string[] {
    return [...this.resources].filter(([, r]) => r.until_ms === null && r.due_ms <= this.now_ms).map(([key]) => key);
  }

  claim(key: string): number {
    const r = this.of(key);
    r.lease_no += 1;
    r.until_ms = this.now_ms + TTL;
    return r.lease_no;
  }

  /** Whether somebody with this number may still commit. */
  holds(key: string, lease_no: number): boolean {
    const r = this.of(key);
    return r.lease_no === lease_no && r.until_ms !== null && r.until_ms > this.now_ms;
  }

  /** Gives up the lease; due again after `wait_ms`, or at once when there is mail. */
  end(key: string, wait_ms: number, floor: boolean, wake: boolean): void {
    const r = this.of(key);
    const at_ms = this.now_ms + wait_ms;
    if (r.paused && floor) r.floor_ms = at_ms;
    const standing_ms = r.not_before_ms > this.now_ms ? r.not_before_ms : Number.NEGATIVE_INFINITY;
    r.not_before_ms = Math.max(standing_ms, floor ? at_ms : Number.NEGATIVE_INFINITY);
    r.due_ms = Math.max(wake && r.mail.length > 0 ? this.now_ms : at_ms, r.not_before_ms);
    r.until_ms = null;
  }

  handBack(key: string): void {
    const r = this.of(key);
    r.until_ms = null;
    r.due_ms = Math.max(this.now_ms, r.not_before_ms);
  }

  expire(): string[] {
    const ended = [...this.resources].filter(([, r]) => r.until_ms !== null && r.until_ms <= this.now_ms);
    for (const [key, r] of ended) {
      this.handBack(key);
      r.failures += 1;
    }
    return ended.map(([key]) => key);
  }

  post(key: string): number {
    const r = this.of(key);
    this.posted += 1;
    r.mail.push(this.posted);
    if (r.until_ms === null) r.due_ms = Math.max(Math.min(r.due_ms, this.now_ms), r.not_before_ms);
    return this.posted;
  }

  touch(key: string): void {
    const r = this.of(key);
    if (r.until_ms === null && r.due_ms > this.now_ms) r.due_ms = Math.max(this.now_ms, r.not_before_ms);
  }

  pause(key: string): void {
    const r = this.of(key);
    if (!r.paused) r.floor_ms = r.not_before_ms;
    r.paused = true;
    r.not_before_ms = Number.POSITIVE_INFINITY;
    r.due_ms = Number.POSITIVE_INFINITY;
  }

  resume(key: string): void {
    const r = this.of(key);
    if (!r.paused) return;
    r.paused = false;
    r.not_before_ms = r.floor_ms > this.now_ms ? r.floor_ms : Number.NEGATIVE_INFINITY;
    r.due_ms = Math.max(this.now_ms, r.not_before_ms);
    r.failures = 0;
  }
}
