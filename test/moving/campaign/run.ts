// A company moves back and forth while it works. Others stay, one in each cell.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import type { Say } from '@truckroll/local-stack';
import { Chance } from '../../../tools/cli/src/simulate/chance.ts';
import type { Installation } from '../../faults/system/installation.ts';
import type { TestCompany } from '../../support/company.ts';
import type { Endpoint } from '../../faults/webhooks/check.ts';
import { makeEndpoints } from '../../faults/webhooks/endpoints.ts';
import type { Receiver } from '../../faults/webhooks/receiver.ts';
import { makeCustomer, runStories } from '../../faults/webhooks/stories.ts';
import { isAcknowledged } from '../../faults/writes/history.ts';
import { readVisits } from '../../faults/writes/observe.ts';
import { settled } from '../../faults/writes/run.ts';
import { makeWorld } from '../../faults/writes/world.ts';
import { checkAll, type Checked, type Wrong } from './check.ts';
import type { Cells } from './cells.ts';
import { MoveCommand } from './command.ts';
import { Kills, STEPS, type Step } from './kills.ts';
import { fill, followFeed, startLoad } from './load.ts';
import { NOW, longestGap, median, probe, type Gap, type Probed } from './probe.ts';
import { chanceOf } from './seeded.ts';

export interface CampaignOptions {
  readonly moves: number;
  readonly records: number;
  readonly requests: number;
  readonly events: number;
  /** Number of moves in which something is killed at each step: the last ones. */
  readonly kills: number;
  readonly seed: number;
  readonly say: Say;
}

export type Campaign = Awaited<ReturnType<typeof runCampaign>>;

interface Moved {
  readonly killed: boolean;
  readonly from: number;
  readonly to: number;
  /** When each step began. */
  readonly steps: ReadonlyMap<Step, number>;
  readonly said: readonly { readonly at: number; readonly line: string }[];
}

const IN_THE_PAUSE = ['frozen', 'the other cell has everything', 'the company works'];
const CALM_MS = 10_000;
/** After this time the command is not run again. */
const MOST_MS = 300_000;
const AGAIN_MS = 500;

export async function runCampaign(cells: Cells, receiver: Receiver, options: CampaignOptions) {
  const { moves, records, requests, events, kills, say } = options;
  const { home, west } = cells;
  const { baseUrl } = home;
  const chance = new Chance(options.seed);
  const others = [await makeCustomer(home), await makeCustomer(west)] as const;
  const endpoints: Endpoint[] = [];
  const created = async (company: TestCompany) => void endpoints.push(...(await makeEndpoints(home, [company, others[0].company], receiver, 'move')));
  const world = await makeWorld(home, { visits: 200, technicians: 12, created });
  const { company } = world;
  await fill(home, world, records, say);
  const customer = await makeCustomer(home, company);
  const lacking = await settled(home, company, MOST_MS);
  if (lacking.length > 0) throw new Error(`the read models do not follow: ${lacking[0]}`);
  const before = await readVisits(home, company);

  let lives = home;
  const end = new AbortController();
  const goesOn = (): boolean => !end.signal.aborted;
  const copy = await followFeed(home.folder, baseUrl, company.apiKey, end.signal);
  const load = startLoad({ baseUrl, world, customer, lives: () => lives, requests, events, chance: chanceOf(chance), goesOn });
  const probing = { baseUrl, path: '/v1/company', everyMs: 20, goesOn };
  const own = probe({ ...probing, company });
  const neighbours = others.map((other) => probe({ ...probing, company: other.company, everyMs: 100 }));
  const feeds = others.map((other) => probe({ ...probing, company: other.company, path: NOW, everyMs: 100 }));
  const stories = runStories(home, [others[0]], { goesOn, atOnce: 1, finished: [], pause: () => delay(500) });
  stories.catch(() => undefined);

  const command = new MoveCommand();
  const killing = new Kills({ targets: cells.targets, command, chance: chanceOf(chance), say });
  const wrong: Wrong[] = [];
  const moved: Moved[] = [];
  const busy = monitorEventLoopDelay();
  busy.enable();
  let busiestMs = 0;
  const calm = { from: performance.now(), to: 0 };
  await delay(CALM_MS);
  calm.to = performance.now();
  try {
    for (let n = 0; n < moves; n++) {
      const [from, to] = lives === home ? [home, west] : [west, home];
      const round = n - (moves - kills);
      const arrived = (): void => void (lives = to);
      const one = await moveOnce({ from, to, companyId: company.id, round: round < 0 ? undefined : round, command, killing, arrived, wrong, say });
      moved.push(one);
      const busyMs = Math.round(busy.max / 1e6);
      busiestMs = Math.max(busiestMs, busyMs);
      busy.reset();
      const pause = longestGap(acknowledgedAt(load.history), ...switchOf(one));
      const into = [...one.steps].findLast(([, at]) => at <= pause.from);
      const where = into === undefined ? '' : ` from ${((pause.from - into[1]) / 1000).toFixed(2)} s after "${into[0]}"`;
      say(
        `  move ${n + 1}, ${from === home ? 'home → west' : 'west → home'}: pause ${Math.round(pause.ms)} ms${where}${othersIn(load.history, pause)}, clients busy for ${busyMs} ms at once; ${stepsOf(one)}`,
      );
      if (wrong.length > 0) break;
      await Promise.race([delay(2000), load.ended.then(() => Promise.reject(new Error('the load has ended')))]);
    }
  } finally {
    end.abort();
  }
  const [{ reads, shed }] = await Promise.all([load.ended, stories, copy.ended]);
  const probes = { own: await own, neighbours: (await Promise.all(neighbours)).flat(), feeds: (await Promise.all(feeds)).flat() };
  say('  all clients have ended; checking …');
  const checked: Pick<Checked, 'wrong'> & { counts: Partial<Checked['counts']> } =
    wrong.length > 0
      ? { wrong: [], counts: {} }
      : await checkAll({ cells, lives, world, before, history: load.history, endpoints, arrivals: receiver.arrivals, copy });
  copy.store.close();
  wrong.push(...checked.wrong, ...load.wrong.map((text) => ({ kind: 'read-failed', text })));
  const { webhooks_repeated: repeated = 0 } = checked.counts;
  if (killing.count === 0 && repeated > 0) wrong.push({ kind: 'webhook-repeated', text: `${repeated} webhooks came twice although nothing was killed` });
  if (copy.gone > 0) wrong.push({ kind: 'gone', text: `${copy.gone} answers of the feed were 410` });
  wrong.push(...[...home.accidents, ...west.accidents].map((text) => ({ kind: 'unexpected-end', text })));
  return {
    wrong,
    figures: {
      moves: moved.length,
      kills: killing.count,
      ...pauses(moved, load.history, probes.own),
      gap_ms_calm: Math.round(longestGap(acknowledgedAt(load.history), calm.from, calm.to).ms),
      ...neighboursOf(moved, calm, probes),
      ...checked.counts,
      reads_shed: shed,
      reads_shed_percent: Math.round((10_000 * shed) / (reads + shed)) / 100,
      gone_410: copy.gone,
      clients_busy_ms: busiestMs,
    },
  };
}

interface OneMove {
  readonly from: Installation;
  readonly to: Installation;
  readonly companyId: string;
  /** Which round of kills this move is; undefined if nothing is killed. */
  readonly round: number | undefined;
  readonly command: MoveCommand;
  readonly killing: Kills;
  /** Called when the company works in the other cell. */
  readonly arrived: () => void;
  readonly wrong: Wrong[];
  readonly say: Say;
}

async function moveOnce({ from, to, companyId, round, command, killing, arrived, wrong, say }: OneMove): Promise<Moved> {
  const begun = performance.now();
  const steps = new Map<Step, number>();
  const all: Moved['said'][number][] = [];
  const moved = (): Moved => ({ killed: round !== undefined, from: begun, to: performance.now(), steps, said: all });
  const said = (line: string): void => {
    all.push({ at: performance.now(), line });
    if (line.startsWith('the company works in the other cell')) arrived();
    const step = STEPS.find((each) => line.startsWith(`${each}:`));
    if (step === undefined || steps.has(step)) return;
    steps.set(step, performance.now());
    if (round !== undefined) killing.begin(step, round);
  };
  for (const args of [[], ['--confirm']]) {
    for (;;) {
      const { code, last } = await command.run(from, to, companyId, args, said);
      // It was killed when all was done.
      if (code === 0 || last.includes('no move of it is under way')) break;
      if (round === undefined || performance.now() - begun > MOST_MS) {
        wrong.push({ kind: 'move-failed', text: last });
        return moved();
      }
      say(`    the command ended with ${code ?? 'a kill'} (${last})`);
      await delay(AGAIN_MS);
    }
    await killing.ended();
  }
  return moved();
}

type History = Parameters<typeof checkAll>[0]['history'];

/** When writes were made. Repeats of them are answered from what is stored, also while the company is frozen. */
const acknowledgedAt = (history: History): number[] =>
  history.filter((attempt) => isAcknowledged(attempt) && attempt.answer?.replayed !== true).map(({ endedAt }) => endedAt);

/** What writes were answered within a pause. */
function othersIn(history: History, { from, ms }: Gap): string {
  const counts = new Map<string, number>();
  for (const attempt of history) {
    if (attempt.endedAt <= from || attempt.endedAt >= from + ms) continue;
    const kind = attempt.answer === undefined ? 'no answer' : [attempt.answer.status, attempt.answer.code].join(' ').trim();
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return counts.size === 0 ? '' : ` (${[...counts].map(([kind, count]) => `${count} × ${kind}`).join(', ')})`;
}

/** Seconds of each step, with what was said within the pause. */
function stepsOf({ to, said }: Moved): string {
  const shown = said.filter(({ line }) => STEPS.some((step) => line.startsWith(`${step}:`)) || IN_THE_PAUSE.some((begin) => line.startsWith(begin)));
  return shown.map(({ at, line }, i) => `${line.split(':')[0]} ${(((shown[i + 1]?.at ?? to) - at) / 1000).toFixed(2)}`).join(', ');
}

/** From when the company is closed until what follows its opening in the other cell has ended. */
const switchOf = ({ steps, from, to }: Moved) => [steps.get('closing') ?? from, steps.get('clearing') ?? to] as const;

/** Time in ms from the last step closing, which first waits for webhooks that are being sent, until the other cell takes changes. */
function closedMs({ said, to }: Moved): number {
  const open = said.findLast(({ line }) => line.startsWith(IN_THE_PAUSE.at(-1)!))?.at ?? to;
  const closed = said.findLast(({ at, line }) => at <= open && line.startsWith('closing:'))?.at ?? open;
  return open - closed;
}

type Pauses = { [name in `${'closed' | 'pause' | 'read_pause' | 'gap'}_${'median' | 'worst'}_ms${'' | '_with_kills'}`]?: number };

/** Times in ms for which the company was closed, and longest ones without an acknowledged write (pause) and without an answered read around the switch, and without a write in the whole move (gap). */
function pauses(moved: readonly Moved[], history: History, own: readonly Probed[]): Pauses {
  const [writes, reads] = [acknowledgedAt(history), own.filter(({ status }) => status === 200).map(({ at }) => at)];
  const figures: Pauses = {};
  for (const suffix of ['', '_with_kills'] as const) {
    const ones = moved.filter(({ killed }) => killed === (suffix !== ''));
    if (ones.length === 0) continue;
    const gaps = {
      closed: ones.map(closedMs),
      pause: ones.map((one) => longestGap(writes, ...switchOf(one)).ms),
      read_pause: ones.map((one) => longestGap(reads, ...switchOf(one)).ms),
      gap: ones.map(({ from, to }) => longestGap(writes, from, to).ms),
    };
    for (const kind of ['closed', 'pause', 'read_pause', 'gap'] as const) {
      figures[`${kind}_median_ms${suffix}` as const] = Math.round(median(gaps[kind]));
      figures[`${kind}_worst_ms${suffix}` as const] = Math.round(Math.max(...gaps[kind]));
    }
  }
  return figures;
}

/** Figures of moves without a kill. */
function neighboursOf(
  moved: readonly Moved[],
  calm: { from: number; to: number },
  { neighbours, feeds }: { neighbours: readonly Probed[]; feeds: readonly Probed[] },
) {
  const copying = moved.flatMap(({ killed, steps }) => (killed ? [] : [{ from: steps.get('copying') ?? 0, to: steps.get('following') ?? 0 }]));
  const within = (probes: readonly Probed[], times: readonly { from: number; to: number }[]) =>
    probes.filter(({ at, status }) => status === 200 && times.some(({ from, to }) => from <= at && at <= to));
  const latency = (times: readonly { from: number; to: number }[]) => Math.round(10 * median(within(neighbours, times).map(({ tookMs }) => tookMs))) / 10;
  const lag = (times: readonly { from: number; to: number }[]) => Math.round(Math.max(0, ...within(feeds, times).map(({ lagMs = 0 }) => lagMs)));
  const [before, during] = [latency([calm]), latency(copying)];
  return {
    others_median_ms: before,
    others_lag_ms: lag([calm]),
    ...(copying.length > 0 && {
      others_median_ms_copying: during,
      others_times_copying: Math.round((100 * during) / before) / 100,
      others_lag_ms_copying: lag(copying),
    }),
  };
}
