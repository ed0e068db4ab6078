// How large the figures of a campaign may be.
import type { Campaign } from './run.ts';

type Figures = Campaign['figures'];

/** The most that a figure may be. */
const BARS: { readonly [name in keyof Figures]?: number } = {
  pause_median_ms: 150,
  pause_worst_ms: 500,
  gap_worst_ms_with_kills: 10_000,
  others_times_copying: 1.3,
  others_lag_ms_copying: 2000,
  writes_lost: 0,
  webhooks_lost: 0,
  gone_410: 0,
  reads_shed_percent: 5,
};

export interface Judged {
  /** One for each bar. */
  readonly lines: readonly string[];
  readonly missed: number;
}

/** A figure that was not measured misses its bar. Only that of moves with kills may be missing, and only if `kills` is 0. */
export function judge(figures: Partial<Figures>, kills: number): Judged {
  const all = (Object.keys(BARS) as (keyof Figures)[]).map((name) => {
    const [most, found] = [BARS[name]!, figures[name]];
    const isAsked = found !== undefined || kills > 0 || name !== 'gap_worst_ms_with_kills';
    return { line: `${name}: ${found ?? 'not measured'} [at most ${most}`, isMissed: isAsked && !(found! <= most) };
  });
  return { lines: all.map(({ line, isMissed }) => `${line}${isMissed ? ', missed' : ''}]`), missed: all.filter(({ isMissed }) => isMissed).length };
}
