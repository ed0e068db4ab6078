// Shows results as text.
import { table } from '../measure/report.ts';
import type { Outcome } from './session.ts';

export function verdictOf({ void: reasons, pass }: Pick<Outcome, 'void' | 'pass'>): 'void' | 'pass' | 'fail' {
  return reasons.length > 0 ? 'void' : pass ? 'pass' : 'fail';
}

const HEAD = ['operation', 'asked/s', 'reached/s', 'p50 ms', 'p99 ms', 'errors', 'of which shed', 'threshold', 'verdict'];

export function textOf({ rows, brokeAt, void: reasons, endurance }: Outcome): string {
  const percent = (share: number): string => `${(share * 100).toFixed(2)} %`;
  const cells = rows.map(({ operation, asked, reached, p50, p99, errors, shed, threshold, pass }) => [
    operation,
    ...[asked, reached, p50, p99].map((value) => value.toFixed(1)),
    percent(errors),
    percent(shed),
    `${threshold.p99} ms, ${percent(threshold.errors)}`,
    pass ? 'pass' : 'FAIL',
  ]);
  const broke = brokeAt === undefined ? '' : `a threshold was crossed when ${brokeAt.toFixed(0)} requests a second were asked for\n`;
  const why = [...reasons.map((reason) => `void: ${reason}\n`), ...(endurance?.faults ?? []).map((fault) => `FAIL: ${fault}\n`)];
  return `${table(HEAD, cells)}${broke}${why.join('')}`;
}
