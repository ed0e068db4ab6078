// Starts both sides, runs them in turn, and compares them.
import { say, runFolder } from '@truckroll/local-stack';
import { join } from 'node:path';
import { machineMs } from '../load/machine.ts';
import { MOST_OTHERS } from '../load/verdict.ts';
import { perEach, statOf, totalOf, withCpu, type CpuMs } from '../measure/cpu.ts';
import { LEAST, isLoss, ratioOf, type Ratio } from '../measure/paired.ts';
import { rounded, table } from '../measure/report.ts';
import { inTurn, median } from '../measure/turns.ts';
import { startStack } from '../system/stack.ts';
import type { Subject } from './checkouts.ts';
import type { Loaded, Outcome, Size, StartLoad } from './load.ts';

export interface Row {
  readonly figure: string;
  /** Medians of the rounds. */
  readonly before: number;
  readonly after: number;
  readonly ratio: Ratio;
  /** Whether a loss here makes the command fail; the other rows say where a loss comes from. */
  readonly judged: boolean;
}

type Sides<T> = Readonly<Record<'before' | 'after', T>>;
type Measured = Outcome & { readonly cpu: CpuMs; readonly others: number };

export interface Comparison {
  readonly rows: readonly Row[];
  /** Cores that other processes used while a round ran: the median of all rounds. */
  readonly others: number;
}

export async function compare(subjects: Sides<Subject>, start: StartLoad, options: Size & { readonly pairs: number }): Promise<Comparison> {
  const folder = runFolder('against');
  const stacks: { close(): Promise<void> }[] = [];
  const startSide = async (side: keyof typeof subjects): Promise<Loaded> => {
    const checkout = subjects[side];
    // Separate servers, so that their CPU time is known by side, and empty ones, so that both sides have the same data.
    const stack = await startStack('truckroll_against', { folder: join(folder, side), checkout });
    stacks.push(stack);
    say(`${side}: starting ${checkout.name} …`);
    return await start(stack, options);
  };
  try {
    const sides = { before: await startSide('before'), after: await startSide('after') };
    say('Warming up …');
    for (const side of Object.values(sides)) await side.warmUp();
    const turn = (side: keyof typeof sides) => async (round: number) => {
      const result = await measured(sides[side], round);
      say(`pair ${round + 1}, ${side}: ${JSON.stringify(result)}`);
      return result;
    };
    const rounds = await inTurn(options.pairs, { before: turn('before'), after: turn('after') });
    return { rows: rowsOf(rounds), others: median([...rounds.before, ...rounds.after].map(({ others }) => others)) };
  } finally {
    for (const stack of stacks) await stack.close();
  }
}

async function measured({ groups, prepare }: Loaded, round: number): Promise<Measured> {
  const load = await prepare(round);
  const before = { at: performance.now(), machine: machineMs(), own: ownMs() };
  const { result, cpu } = await withCpu(groups, load);
  const others = (machineMs() - before.machine - (ownMs() - before.own) - totalOf(cpu)) / (performance.now() - before.at);
  return { ...result, cpu: perEach(cpu, result.operations), others: Math.max(0, others) };
}

/** CPU time of this process and of generators that have ended, in ms. */
function ownMs(): number {
  const { ms = NaN, endedMs = NaN } = statOf(process.pid) ?? {};
  return ms + endedMs;
}

/** Ratios are such that above 1 the new side is the better one. */
export function rowsOf({ before, after }: Sides<readonly Omit<Measured, 'others'>[]>): Row[] {
  const row = (figure: string, of: (one: Omit<Measured, 'others'>) => number, better: 'higher' | 'lower', judged = false): Row => {
    const pairs = before.map((one, round) => {
      const [old, now] = [of(one), of(after[round] as (typeof after)[number])];
      return better === 'higher' ? now / old : old / now;
    });
    return { figure, before: median(before.map(of)), after: median(after.map(of)), ratio: ratioOf(pairs), judged };
  };
  const first = before[0] as (typeof before)[number];
  const rate = first.perSecond === undefined ? [] : [row('a second', ({ perSecond }) => perSecond ?? NaN, 'higher', true)];
  const latency = first.p50 === undefined ? [] : [row('median ms', ({ p50 }) => p50 ?? NaN, 'lower')];
  const tail = first.p99 === undefined ? [] : [row('p99 ms', ({ p99 }) => p99 ?? NaN, 'lower')];
  // A process that did nothing measurable in some round has no ratio.
  const groups = Object.keys(first.cpu).filter((group) => [...before, ...after].every(({ cpu }) => (cpu[group] ?? 0) > 0));
  return [
    ...rate,
    ...latency,
    ...tail,
    row('CPU ms each', ({ cpu }) => totalOf(cpu), 'lower', true),
    ...groups.map((group) => row(`CPU ms each: ${group}`, ({ cpu }) => cpu[group] ?? NaN, 'lower')),
  ];
}

export function tableOf(rows: readonly Row[], names: Sides<string>): string {
  const number = (value: number): string => (value >= 100 ? value.toFixed(0) : value >= 1 ? value.toFixed(2) : value.toFixed(4));
  return table(
    ['', `before: ${names.before}`, `after: ${names.after}`, 'times as good', 'at least', 'at most', ''],
    rows.map(({ figure, before, after, ratio: { ratio, low, high }, judged }) => {
      const bounds = high === Infinity ? ['-', '-'] : [low, high].map((value) => String(rounded(value)));
      return [figure, number(before), number(after), String(rounded(ratio)), ...bounds, judged ? 'judged' : ''];
    }),
  );
}

/** Says whether a judged row is worse for certain, and whether the result can be believed. */
export function verdictOf({ rows, others }: Comparison): string {
  const judged = rows.filter((row) => row.judged);
  const lost = judged.filter(({ ratio }) => isLoss(ratio)).map(({ figure }) => figure);
  const sure = judged.every(({ ratio: { high } }) => high < Infinity);
  const verdict =
    lost.length > 0
      ? `Worse for certain (at most below ${LEAST}): ${lost.join(', ')}.`
      : sure
        ? `Nothing that is judged is worse for certain (no at most is below ${LEAST}).`
        : 'Fewer than 5 pairs have no bounds, so nothing is certain.';
  if (!(others > MOST_OTHERS)) return `${verdict}\n`;
  return `${verdict}\nOther processes used ${rounded(others)} of a core at the same time, more than ${MOST_OTHERS}: repeat this on a quiet machine.\n`;
}
