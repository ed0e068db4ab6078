// Limits a company's concurrent calls, of all kinds together, if its demand is large and it slows others down (docs/adr/0011).
import { Places } from '@truckroll/service-kit';
import { Demand } from './demand.ts';
import { Mean } from './mean.ts';

const MOST = 512;
const LEAST = 1;
/** Share of the total demand from which a company counts as a flood. */
const FLOOD = 0.9;
/** Minimum share of the time that a flood's calls may run, one after the other, even if they slow others down (docs/adr/0011). */
const LEAST_TIME = 1 / 10;
/** Limit below which a flood's calls run one after the other, with pauses between them. */
const FEW = 2;
/** Longest time in ms that a flood's next call waits for the other companies' running calls to end. */
const GIVE_WAY_MS = 50;
/** Ratio to the unloaded latency from which an answer is late: others notice it. */
const LATE = 3;
/** Target share of late answers to others during a flood. One late answer lowers the limit as much as 99 timely ones raise it. */
const LATE_SHARE = 0.01;
/** Time in ms for which a company counts as active after an answer to it. */
const ABOUT_MS = 1000;
/** Time in ms for which others, or the flood, are expected back. Until then few calls of the flood may run. */
const EXPECTED_MS = 60_000;
/** Minimum concurrent calls of a lone company while others are expected: they keep the processors busy. */
const ENOUGH = 8;
/** Ratio to the unloaded latency above which a company's own calls slow each other down, so that fewer should run. */
const CROWDED = 4;
/** Answers averaged before a limit is adjusted. */
const WINDOW = 10;
/** Mean ratio to the unloaded latency above which answers waited for other calls. */
const TOLERANCE = 1.5;
const SHRINK = 0.7;
const GROW = 1.05;
const GROW_ONE = SHRINK ** (-LATE_SHARE / (1 - LATE_SHARE));
/** Longest pause between two calls of a flood, in ms. */
const LONGEST_PAUSE_MS = 200;
/** Calls that one company may queue: a client may send this many at once. */
export const QUEUE = 64;
/** The same for a company that is no flood, in the first `BURST_MS` after a queue forms. A pause of some process makes such a burst, and it drains soon. */
const BURST_QUEUE = 256;
const BURST_MS = 1000;
/** Longest wait in ms, then 503. No queue here explains a longer one. */
export const PATIENCE_MS = 5000;
/** Latency in ms above which a call is stalled: it waits for something other than processors and does not count against its company's limit. */
const STALLED_MS = 250;

export class Throttle {
  readonly #demand = new Demand();
  readonly #places = new Places({
    places: Infinity,
    share: Infinity,
    shareOf: (companyId) => this.#shareOf(companyId),
    queue: Infinity,
    patienceMs: PATIENCE_MS,
  });
  #limit = MOST;
  /** Share of the time that a flood's calls may run one after the other. Kept when the flood ends. */
  #time = 1;
  /** Limit of concurrent calls while no other company is active. */
  #alone = MOST;
  /** Slowness of answers to others since the last adjustment. */
  readonly #slowness = new Mean();
  /** Slowness of answers to companies with large demand since the last adjustment of the limit. */
  readonly #own = new Mean();
  /** The same since the last adjustment of #alone. */
  readonly #ownAlone = new Mean();
  /** Whether a call had to wait, so the limit is what holds calls back. */
  #bound = false;
  #loweredAt = -Infinity;
  #othersAt = -Infinity;
  #begun = 0;
  #stalled = 0;
  /** Calls that passed the throttle and wait for a slot of their kind. Other calls of their company may run in their place. */
  #heldUp = 0;
  /** Slots that stay taken for a pause after their call. */
  #pausing = 0;
  /** When the pause after a flood's last call ended. */
  #roomAt = -Infinity;
  /** When the current queue formed. */
  #waitingSince = -Infinity;
  #watching = false;

  get limit(): number {
    return Math.floor(this.#limit);
  }

  get time(): number {
    return this.#time;
  }

  get waiting(): number {
    return this.#places.waiting;
  }

  /** Notes a request whose answer takes this many milliseconds under no load. */
  asked(companyId: string, milliseconds: number): void {
    this.#demand.note(companyId, milliseconds);
  }

  /** Whether no company demands more than twice as much. */
  isLarge(companyId: string): boolean {
    return this.#demand.isLarge(companyId);
  }

  /** Whether the throttle applies to the company: its demand is large and others are active. */
  #limits(companyId: string): boolean {
    return performance.now() - this.#othersAt < ABOUT_MS && this.isLarge(companyId);
  }

  /** Whether the company floods and has to pause between its calls. */
  #leavesRoom(companyId: string): boolean {
    return this.#limit < FEW && this.#limits(companyId) && this.#demand.shareOf(companyId) >= FLOOD;
  }

  full(companyId: string): boolean {
    const waiting = this.#places.waiting === 0 ? 0 : this.#places.waitingOf(companyId);
    if (waiting < QUEUE) return false;
    const stands = performance.now() - this.#waitingSince >= BURST_MS;
    return waiting >= BURST_QUEUE || stands || this.#leavesRoom(companyId);
  }

  /** Takes a slot, as Places.enter does; `leave` must follow. */
  enter(companyId: string): Promise<void> | undefined {
    const turn = this.#places.enter(companyId);
    if (turn === undefined) return undefined;
    this.#bound = true;
    if (this.#places.waiting === 1) this.#waitingSince = performance.now();
    this.#watch();
    return turn.then(() => void (this.#begun += 1));
  }

  /** Waits for a slot of the call's kind, and lets another call of the company pass the throttle until it is free. */
  async heldUp(turn: Promise<void>): Promise<void> {
    this.#bound = true;
    this.#heldUp += 1;
    this.#places.fill();
    try {
      await turn;
    } finally {
      this.#heldUp -= 1;
    }
  }

  /** Ends a call that took this many milliseconds. */
  leave(companyId: string, milliseconds: number): void {
    if (milliseconds >= STALLED_MS && this.#stalled > 0) this.#stalled -= 1;
    if (!this.#leavesRoom(companyId)) return void this.#places.leave(companyId);
    const pause = Math.min(LONGEST_PAUSE_MS, milliseconds * (1 / this.#time - 1));
    if (pause < 1) return void this.#giveWay(companyId);
    this.#pausing += 1;
    setTimeout(() => {
      this.#pausing -= 1;
      this.#giveWay(companyId);
    }, pause);
  }

  /** Lets the flood's next call start as soon as no call of another company runs, or after GIVE_WAY_MS. */
  #giveWay(companyId: string): void {
    this.#roomAt = performance.now();
    this.#places.leave(companyId);
    const waits = this.#places.waitingOf(companyId) > 0 && this.#places.heldOf(companyId) === 0;
    // Timers may fire a fraction of a millisecond early.
    if (waits) setTimeout(() => void this.#places.fill(), GIVE_WAY_MS + 1).unref();
  }

  /** Notes an answer to a company with large demand, by the ratio to the unloaded latency. */
  answeredMost(slowness: number): void {
    this.#own.note(slowness);
    this.#ownAlone.note(slowness);
    if (this.#ownAlone.count < WINDOW) return;
    if (this.#ownAlone.value > CROWDED) this.#alone = Math.max(ENOUGH, Math.min(this.#alone, this.#places.held) * SHRINK);
    else if (this.#places.waiting > 0) this.#alone = Math.min(MOST, this.#alone * GROW);
    this.#ownAlone.clear();
  }

  /** Notes an answer to a company with small demand: `took` is its own ratio to the unloaded latency, `slowness` the moving average of such answers. */
  answeredOthers(took: number, slowness: number): void {
    this.#othersAt = performance.now();
    const flooded = this.#places.waiting > 0 && this.#demand.mostShare() >= FLOOD;
    // If a flood's calls do not slow each other down, there are processors enough and fewer calls would not help others. Calls that run one
    // at a time cannot slow each other down, so this says nothing then.
    const crowded = this.#own.count === 0 || this.#own.value > TOLERANCE;
    if (flooded && took <= LATE) this.#raise(GROW_ONE);
    else if (flooded && (crowded || this.#limit < FEW)) this.#lower();
    this.#slowness.note(slowness);
    // No ratio is below 1, so the sum may prove a slow window before it is full.
    const slow = this.#slowness.sum + WINDOW - this.#slowness.count > WINDOW * TOLERANCE;
    if (!slow && this.#slowness.count < WINDOW) return;
    // If no call waits, others are slow for some other reason than too many calls.
    if (this.#bound && slow && crowded) this.#lowerLimit();
    // If no call waits, nothing shows what a higher limit would do, and a returning flood should meet this limit.
    else if (!flooded && (this.#bound || this.#othersAt - this.#loweredAt >= EXPECTED_MS)) this.#raise(GROW);
    this.#slowness.clear();
    this.#own.clear();
    this.#bound = false;
  }

  #raise(by: number): void {
    if (this.#time < 1) this.#time = Math.min(1, this.#time * by);
    else this.#limit = Math.min(MOST, this.#limit * by);
  }

  #lower(): void {
    if (this.#limit >= FEW) this.#lowerLimit();
    else this.#time = Math.max(LEAST_TIME, this.#time * SHRINK);
  }

  #lowerLimit(): void {
    this.#limit = Math.max(LEAST, Math.min(this.#limit, this.#places.held) * SHRINK);
    this.#loweredAt = this.#othersAt;
  }

  #shareOf(companyId: string): number {
    const since = performance.now() - this.#othersAt;
    if (since >= EXPECTED_MS || !this.isLarge(companyId)) return Infinity;
    const more = this.#stalled + this.#heldUp;
    const othersUnderWay = this.#places.held > this.#places.heldOf(companyId);
    if (othersUnderWay && this.#leavesRoom(companyId) && performance.now() - this.#roomAt < GIVE_WAY_MS) return more;
    return (since < ABOUT_MS ? this.limit : Math.floor(this.#alone)) + more;
  }

  /** While calls wait: counts a stalled call if none has started for STALLED_MS, and admits more once other companies have gone quiet. */
  #watch(): void {
    if (this.#watching) return;
    this.#watching = true;
    const before = this.#begun;
    setTimeout(() => {
      this.#watching = false;
      if (this.#places.waiting === 0) {
        this.#stalled = 0;
        return;
      }
      if (this.#begun === before && this.#pausing === 0) this.#stalled += 1;
      this.#places.fill();
      this.#watch();
    }, STALLED_MS).unref();
  }
}
