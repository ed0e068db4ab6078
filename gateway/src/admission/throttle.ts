// A company that asks for most makes room for others: while their answers are slower than they can be, fewer of its calls are
// under way at once, of all kinds together (docs/adr/0011).
import { Places } from '@truckroll/service-kit';
import { Demand } from './demand.ts';
import { Mean } from './mean.ts';

const MOST = 512;
const LEAST = 1;
/** Who asks for such a share of what all ask for floods: others are a few, and not as many as it. */
const FLOOD = 0.9;
/** Of the time, calls of a company that floods may take at least, however much they slow others down one after the other: docs/adr/0011. */
const LEAST_TIME = 1 / 10;
/** Calls of a flood that go one after the other may leave pauses. */
const FEW = 2;
/** So long, at most, the next of them waits until no call of others is under way. Milliseconds. */
const GIVE_WAY_MS = 50;
/** An answer that takes so many times as long as at best is late: what others notice. */
const LATE = 3;
/** Beside a flood one in a hundred answers to others is late: each takes as much from it as ninety-nine others give. */
const LATE_SHARE = 0.01;
/** How long ago an answer to another company counts. Milliseconds. */
const ABOUT_MS = 1000;
/** For so long others, or a flood, may come back at any moment: others are to find little under way. Milliseconds. */
const EXPECTED_MS = 60_000;
/** While others are expected, so many calls at once keep the processors busy of which a company's own slow each other down. */
const ENOUGH = 8;
/** Answers that take so many times as long as at best have waited for each other: more of them at once make each slower. */
const CROWDED = 4;
/** Answers to others that a judgement is made on. */
const WINDOW = 10;
/** Answers that take so many times as long as at best have waited for other calls. */
const TOLERANCE = 1.5;
const SHRINK = 0.7;
const GROW = 1.05;
const GROW_ONE = SHRINK ** (-LATE_SHARE / (1 - LATE_SHARE));
/** Between two calls, the most. Milliseconds. */
const LONGEST_PAUSE_MS = 200;
/** As many as a client sends at once wait for their turn. */
export const QUEUE = 64;
/** So many may where nobody waited a moment ago, but of a flood: what comes while some process pauses is answered soon after. */
const BURST_QUEUE = 256;
const BURST_MS = 1000;
/** A wait that is longer than a queue explains. Milliseconds. */
export const PATIENCE_MS = 5000;
/** A call that takes longer waits for something else than processors, and is no reason for others of its company to wait. Milliseconds. */
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
  /** Of the time, calls of a company that floods may take one after the other. Kept as long as none does. */
  #time = 1;
  /** Calls at once while nobody else is about. */
  #alone = MOST;
  /** Of answers to others, since the last judgement on them. */
  readonly #slowness = new Mean();
  /** The same of those that are held back, once they have begun. */
  readonly #own = new Mean();
  /** The same since the last judgement on #alone. */
  readonly #ownAlone = new Mean();
  /** Somebody waited: the limit is what holds calls back. */
  #bound = false;
  #loweredAt = -Infinity;
  #othersAt = -Infinity;
  #begun = 0;
  #stalled = 0;
  /** Calls that may begin but for a service that stands still: others of their company go on meanwhile. */
  #heldUp = 0;
  /** Places that are held for a while after their call. */
  #pausing = 0;
  /** When a call of a flood that leaves pauses could last have begun. */
  #roomAt = -Infinity;
  /** When somebody began to wait where nobody did. */
  #waitingSince = -Infinity;
  #watching = false;

  /** Calls at once. */
  get limit(): number {
    return Math.floor(this.#limit);
  }

  /** Of the time, that a flood's calls may take. */
  get time(): number {
    return this.#time;
  }

  get waiting(): number {
    return this.#places.waiting;
  }

  /** A request came whose answer takes so many milliseconds at best. */
  asked(companyId: string, milliseconds: number): void {
    this.#demand.note(companyId, milliseconds);
  }

  /** Whether nobody asks for much more. */
  isLarge(companyId: string): boolean {
    return this.#demand.isLarge(companyId);
  }

  /** Whether a call of the company is held back here, should it be one too many. */
  #limits(companyId: string): boolean {
    return performance.now() - this.#othersAt < ABOUT_MS && this.isLarge(companyId);
  }

  /** Whether the company floods, and its calls go one after the other and leave room between them. */
  #leavesRoom(companyId: string): boolean {
    return this.#limit < FEW && this.#limits(companyId) && this.#demand.shareOf(companyId) >= FLOOD;
  }

  full(companyId: string): boolean {
    const waiting = this.#places.waiting === 0 ? 0 : this.#places.waitingOf(companyId);
    if (waiting < QUEUE) return false;
    const stands = performance.now() - this.#waitingSince >= BURST_MS;
    return waiting >= BURST_QUEUE || stands || this.#leavesRoom(companyId);
  }

  /** As Places.enter; `leave` must follow. */
  enter(companyId: string): Promise<void> | undefined {
    const turn = this.#places.enter(companyId);
    if (turn === undefined) return undefined;
    this.#bound = true;
    if (this.#places.waiting === 1) this.#waitingSince = performance.now();
    this.#watch();
    return turn.then(() => void (this.#begun += 1));
  }

  /** A call that has a place here waits for one of its kind; `heldUp` until it has that. */
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

  /** After a call of so many milliseconds. */
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

  /** The next call of the flood begins as soon as none of others is under way. */
  #giveWay(companyId: string): void {
    this.#roomAt = performance.now();
    this.#places.leave(companyId);
    const waits = this.#places.waitingOf(companyId) > 0 && this.#places.heldOf(companyId) === 0;
    // Timers may be early by a part of a millisecond.
    if (waits) setTimeout(() => void this.#places.fill(), GIVE_WAY_MS + 1).unref();
  }

  /** A company that asks for most got an answer; how many times as long as at best these take. */
  answeredMost(slowness: number): void {
    this.#own.note(slowness);
    this.#ownAlone.note(slowness);
    if (this.#ownAlone.count < WINDOW) return;
    if (this.#ownAlone.value > CROWDED) this.#alone = Math.max(ENOUGH, Math.min(this.#alone, this.#places.held) * SHRINK);
    else if (this.#places.waiting > 0) this.#alone = Math.min(MOST, this.#alone * GROW);
    this.#ownAlone.clear();
  }

  /** A company that asks for little got an answer: how many times as long as at best it took, and these take by now. */
  answeredOthers(took: number, slowness: number): void {
    this.#othersAt = performance.now();
    const flooded = this.#places.waiting > 0 && this.#demand.mostShare() >= FLOOD;
    // Calls that do not slow each other down have processors enough: fewer of them would give others nothing. One at a time slow none of theirs down.
    const crowded = this.#own.count === 0 || this.#own.value > TOLERANCE;
    if (flooded && took <= LATE) this.#raise(GROW_ONE);
    else if (flooded && (crowded || this.#limit < FEW)) this.#lower();
    this.#slowness.note(slowness);
    // None takes less than at best, so that fewer than all may show that they are slow on the average.
    const slow = this.#slowness.sum + WINDOW - this.#slowness.count > WINDOW * TOLERANCE;
    if (!slow && this.#slowness.count < WINDOW) return;
    // Where nobody waits, others are slow for another reason than too many calls.
    if (this.#bound && slow && crowded) this.#lowerLimit();
    // While nobody waits nothing tells what a higher limit would do, and a flood that comes again is to find this one.
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

  /** While somebody waits: finds out that none has begun for long, and lets in what others' absence allows. */
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
