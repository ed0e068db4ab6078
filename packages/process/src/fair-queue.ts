// Slots that companies share, and the one queue for them: start-time fair queueing (Goyal, Vin and Cheng, 1996), with longest-queue
// drop (Suter et al., 1998) where the queue is full.
//
// Each millisecond is split equally between the running calls, and a company's tag adds up its parts. A free slot goes to the
// waiting company with the lowest tag. So a company pays for its own calls, and not for the time by which others slow them down.
// A company that was idle starts at the tag of the call that started last, so idle time gives no credit.
import { ApiError } from '@truckroll/contract';

export interface Flow {
  readonly name: string;
  /** Slots held now; a light request holds a part of one. */
  readonly held: number;
}

export interface FairQueueOptions {
  /** Whether the company may take one more slot now. If that becomes true for another reason than `leave`, call `fill`. */
  readonly admits: (flow: Flow) => boolean;
  /** Maximum number of waiting requests of all companies together, without exempt ones. */
  readonly queue: number;
  /** Maximum time in ms that a request waits. */
  readonly maxWaitMs: number;
  /** Called when a company takes slots (above 0) or gives them back (below 0), before the next slot is given. */
  readonly onHeld?: (name: string, change: number) => void;
  /** Companies whose requests are never shed, and do not fill the queue for others. Default none. */
  readonly isExempt?: (name: string) => boolean;
}

/** Error of every shed request: making one takes longer than shedding. */
export const SHED = new ApiError('RATE_LIMITED', 'Too many requests of this company are in progress. Send it again after the time in Retry-After.', {
  retryAfterSeconds: 1,
});

interface Waiter {
  readonly timer: NodeJS.Timeout;
  readonly weight: number;
  admit(): void;
  reject(error: ApiError): void;
}

interface Member extends Flow {
  readonly isExempt: boolean;
  held: number;
  tag: number;
  /** Value of the queue's clock up to which `tag` is charged. */
  chargedTo: number;
  readonly waiting: Waiter[];
}

export class FairQueue {
  held = 0;
  waiting = 0;
  readonly #options: FairQueueOptions;
  readonly #flows = new Map<string, Member>();
  readonly #backlogged = new Set<Member>();
  /** Waiting requests of exempt companies. */
  #exempt = 0;
  /** Grows by 1/held each millisecond: the charge of a running call that holds one slot. */
  #clock = 0;
  #clockAt = performance.now();
  #virtualTime = 0;

  constructor(options: FairQueueOptions) {
    this.#options = options;
  }

  /** Whether one more request of the company would be shed: the queue is full, and no company has more waiting. */
  sheds(name: string): boolean {
    const own = this.#flows.get(name)?.waiting.length ?? 0;
    return this.#isFull && own >= (this.#longest()?.waiting.length ?? 0);
  }

  /**
   * Takes a slot, or `weight` of one: now if this returns undefined, else when the promise resolves. `leave` with the same weight must follow.
   * Throws or rejects with SHED or 503.
   */
  enter(name: string, weight = 1): Promise<void> | undefined {
    const flow = this.#flowOf(name);
    if (flow.waiting.length === 0 && this.#options.admits(flow)) {
      this.#hold(flow, weight);
      return undefined;
    }
    if (this.#isFull && !flow.isExempt) this.#shedFor(flow);
    const turn = new Promise<void>((admit, reject) => {
      const late = (): void => {
        this.#remove(flow, flow.waiting.indexOf(waiter));
        this.#forget(flow);
        reject(ApiError.unavailable(new Error('no slot became free in time'), 1));
      };
      const waiter: Waiter = { timer: setTimeout(late, this.#options.maxWaitMs), weight, admit, reject };
      flow.waiting.push(waiter);
      this.#backlogged.add(flow);
      this.#count(flow, 1);
    });
    this.fill();
    return turn;
  }

  leave(name: string, weight = 1): void {
    const flow = this.#flows.get(name) as Member;
    this.#hold(flow, -weight);
    this.fill();
    this.#forget(flow);
  }

  /** Charges a company for work without a slot, as if it had one. While no call is running, no other company is affected. */
  charge(name: string, milliseconds: number): void {
    if (this.held > 0) this.#flowOf(name).tag += milliseconds / Math.max(1, this.held);
  }

  fill(): void {
    for (let flow = this.#next(); flow !== undefined; flow = this.#next()) {
      const { admit, weight } = this.#remove(flow, 0);
      this.#hold(flow, weight);
      admit();
    }
  }

  get #isFull(): boolean {
    return this.waiting - this.#exempt >= this.#options.queue;
  }

  #next(): Member | undefined {
    let next: Member | undefined;
    for (const flow of this.#backlogged) {
      if (!this.#options.admits(flow)) continue;
      this.#settle(flow);
      if (next === undefined || flow.tag < next.tag || (flow.tag === next.tag && flow.held < next.held)) next = flow;
    }
    return next;
  }

  /** Makes room for a request by shedding the newest one of the company with the most waiting. Throws SHED if that is its own. */
  #shedFor(flow: Member): void {
    const longest = this.#longest();
    if (longest === undefined || flow.waiting.length >= longest.waiting.length) {
      this.#forget(flow);
      throw SHED;
    }
    this.#remove(longest, longest.waiting.length - 1).reject(SHED);
    this.#forget(longest);
  }

  #longest(): Member | undefined {
    let longest: Member | undefined;
    for (const flow of this.#backlogged) {
      if (flow.waiting.length > (longest?.waiting.length ?? 0) && !flow.isExempt) longest = flow;
    }
    return longest;
  }

  #flowOf(name: string): Member {
    let flow = this.#flows.get(name);
    if (flow === undefined) {
      flow = { name, isExempt: this.#options.isExempt?.(name) === true, held: 0, tag: 0, chargedTo: 0, waiting: [] };
      this.#flows.set(name, flow);
    }
    if (flow.held + flow.waiting.length === 0) flow.tag = Math.max(flow.tag, this.#virtualTime);
    return flow;
  }

  #hold(flow: Member, change: number): void {
    this.#settle(flow);
    if (change > 0) this.#virtualTime = Math.max(this.#virtualTime, flow.tag);
    flow.held += change;
    this.held += change;
    this.#options.onHeld?.(flow.name, change);
  }

  #settle(flow: Member): void {
    const now = performance.now();
    if (this.held > 0) this.#clock += (now - this.#clockAt) / this.held;
    this.#clockAt = now;
    flow.tag += flow.held * (this.#clock - flow.chargedTo);
    flow.chargedTo = this.#clock;
  }

  #remove(flow: Member, index: number): Waiter {
    const [waiter] = flow.waiting.splice(index, 1) as [Waiter];
    clearTimeout(waiter.timer);
    if (flow.waiting.length === 0) this.#backlogged.delete(flow);
    this.#count(flow, -1);
    return waiter;
  }

  #count({ isExempt }: Member, change: number): void {
    this.waiting += change;
    if (isExempt) this.#exempt += change;
  }

  /** Forgets a company without calls once its tag has no effect, and all companies when no call is left. */
  #forget(flow: Member): void {
    if (this.held + this.waiting === 0) this.#flows.clear();
    else if (flow.held + flow.waiting.length === 0 && flow.tag <= this.#virtualTime) this.#flows.delete(flow.name);
  }
}
