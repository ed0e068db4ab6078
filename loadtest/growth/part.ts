// What every part of bench:growth returns.
import { totalOf, type CpuMs } from '../measure/cpu.ts';
import { rounded, table } from '../measure/report.ts';
import { median } from '../measure/turns.ts';

export interface Options {
  readonly quick: boolean;
  readonly rounds: number;
  readonly seconds: number;
}

export type Part = (options: Options) => Promise<Row[]>;

/** One size of one kind of work. */
export interface Row {
  readonly work: string;
  readonly size: number;
  readonly rounds: readonly Round[];
}

export interface Round {
  readonly figures: Readonly<Record<string, number>>;
  /** Milliseconds by process, for each operation or second. */
  readonly cpu: CpuMs;
}

/** Medians of each row. `growth` is the CPU time ÷ that of the work's smallest size. */
export function tableOf(rows: readonly Row[]): string {
  const namesOf = (of: (round: Round) => object): string[] => [...new Set(rows.flatMap(({ rounds }) => rounds.flatMap((round) => Object.keys(of(round)))))];
  const figures = namesOf(({ figures }) => figures);
  const processes = namesOf(({ cpu }) => cpu);
  const total = ({ rounds }: Row): number => median(rounds.map(({ cpu }) => totalOf(cpu)));
  const lines = rows.map((row) => {
    const smallest = rows.find(({ work }) => work === row.work) as Row;
    const of = (value: (round: Round) => number | undefined): number => median(row.rounds.map((round) => value(round) ?? NaN));
    return [
      row.work,
      row.size.toLocaleString('en'),
      ...figures.map((name) => text(of(({ figures: { [name]: value } }) => value))),
      text(total(row)),
      ...processes.map((name) => text(of(({ cpu }) => cpu[name]))),
      String(rounded(total(row) / total(smallest))),
    ];
  });
  return table(['work', 'size', ...figures, 'CPU ms', ...processes, 'growth'], lines);
}

function text(value: number): string {
  return Number.isNaN(value) ? '' : value >= 100 ? value.toFixed(0) : value >= 1 ? value.toFixed(2) : value.toFixed(4);
}
