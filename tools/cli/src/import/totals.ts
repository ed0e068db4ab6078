import type { ImportResponse } from '@truckroll/contract/gen/records/v1/records';
import { table } from '@truckroll/integrator-cli/terminal/table';

export interface Totals {
  readonly path: string;
  created: number;
  changed: number;
  unchanged: number;
  /** Counts lines, not reasons: a line may have several. */
  refused: number;
  /** Lines that were stored and then replaced by a later line with the same id. */
  repeated: number;
}

export const noTotals = (path: string): Totals => ({ path, created: 0, changed: 0, unchanged: 0, refused: 0, repeated: 0 });

export function addAnswer(totals: Totals, answer: ImportResponse): void {
  totals.created += answer.created;
  totals.changed += answer.changed;
  totals.unchanged += answer.unchanged;
  totals.refused += new Set(answer.problems.map((problem) => problem.line)).size;
}

export const recordsOf = (totals: Totals): number => totals.created + totals.changed + totals.unchanged + totals.refused;

export function sum(all: readonly Totals[]): Totals {
  const total = noTotals('together');
  for (const key of ['created', 'changed', 'unchanged', 'refused', 'repeated'] as const) {
    total[key] = all.reduce((soFar, totals) => soFar + totals[key], 0);
  }
  return total;
}

export function totalsTable(all: readonly Totals[]): string {
  const columns = {
    RECORDS: (row: Totals) => row.path,
    LINES: recordsOf,
    CREATED: (row: Totals) => row.created,
    CHANGED: (row: Totals) => row.changed,
    UNCHANGED: (row: Totals) => row.unchanged,
    REFUSED: (row: Totals) => row.refused,
  };
  return table(all.length > 1 ? [...all, sum(all)] : all, columns, 'Nothing was imported.');
}
