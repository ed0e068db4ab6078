import { Baseline, type Call, type Limiter } from '../../src/admission/limiter.ts';

interface Work {
  readonly call: Call;
  readonly cameAt: number;
  readonly weight: number;
  leftMs: number;
}

interface Asked {
  /** Requests a second. */
  readonly rate: number;
  /** Milliseconds of a processor for each, at first. */
  readonly ms: number;
  /** Factor by which each takes longer now, whatever else is under way. */
  readonly slowness?: number;
  /** Number of processes that work for each at the same time. */
  readonly weight?: number;
  /** Whether the answers are errors. */
  readonly isError?: boolean;
}

interface Seen {
  served: number;
  /** Milliseconds from request to answer. */
  readonly latencies: number[];
  rejected: unknown[];
}

/** Processors that share their time between the calls that a limiter lets run, on a fake clock, in steps of one millisecond. */
export class Processors {
  readonly #limiter: Limiter;
  readonly #cores: number;
  readonly #underWay: Work[] = [];
  readonly #baselines = new Map<number, Baseline>();
  /** Most calls under way at once. */
  peak = 0;
  /** While true, no call makes progress. */
  stands = false;

  constructor(limiter: Limiter, cores: number) {
    this.#limiter = limiter;
    this.#cores = cores;
  }

  underWay(company: string): number {
    return this.#underWay.filter(({ call }) => call.company === company).length;
  }

  /** Simulates companies that send requests for some seconds. Returns what each observed. */
  async run(seconds: number, companies: Readonly<Record<string, Asked>>): Promise<Record<string, Seen>> {
    const seen: Record<string, Seen> = Object.fromEntries(Object.keys(companies).map((name) => [name, { served: 0, latencies: [], rejected: [] }]));
    this.peak = 0;
    for (let ms = 0; ms < seconds * 1000; ms++) {
      for (const [name, asked] of Object.entries(companies)) {
        const due = Math.floor(((ms + 1) * asked.rate) / 1000) - Math.floor((ms * asked.rate) / 1000);
        for (let request = 0; request < due; request++) this.#ask(name, asked, seen[name] as Seen);
      }
      await jest.advanceTimersByTimeAsync(1);
      this.#work(companies, seen);
      // Requests that were waiting begin.
      await jest.advanceTimersByTimeAsync(0);
    }
    return seen;
  }

  #ask(company: string, { ms, slowness = 1, weight = 1 }: Asked, seen: Seen): void {
    const cameAt = performance.now();
    const begin = (call: Call): void => void this.#underWay.push({ call, cameAt, weight, leftMs: ms * slowness });
    try {
      const turn = this.#limiter.enter(company);
      if (turn instanceof Promise) turn.then(begin, (error: unknown) => seen.rejected.push(error));
      else begin(turn);
    } catch (error) {
      seen.rejected.push(error);
    }
  }

  #work(companies: Readonly<Record<string, Asked>>, seen: Record<string, Seen>): void {
    this.peak = Math.max(this.peak, this.#underWay.length);
    if (this.stands) return;
    const weights = this.#underWay.reduce((sum, { weight }) => sum + weight, 0);
    for (const work of [...this.#underWay]) {
      work.leftMs -= Math.min(1, (this.#cores * work.weight) / weights);
      if (work.leftMs > 1e-9) continue;
      this.#underWay.splice(this.#underWay.indexOf(work), 1);
      const { company } = work.call;
      const asked = companies[company];
      this.#limiter.leave(work.call, this.#baselineOf(asked?.ms ?? 0), asked !== undefined && !asked.isError);
      const mine = seen[company];
      if (mine === undefined) continue;
      mine.served += 1;
      mine.latencies.push(performance.now() - work.cameAt);
    }
  }

  #baselineOf(ms: number): Baseline {
    let baseline = this.#baselines.get(ms);
    if (baseline === undefined) this.#baselines.set(ms, (baseline = new Baseline()));
    return baseline;
  }
}
