// What is asked of a campaign, beside that nothing contradicts.

/** The most that a figure may be. */
const BARS: Readonly<Record<string, number>> = {
  pause_median_ms: 150,
  pause_worst_ms: 500,
  gap_worst_ms_with_kills: 10_000,
  others_times_copying: 1.3,
  others_lag_ms_copying: 2000,
  writes_lost: 0,
  webhooks_lost: 0,
  gone_410: 0,
};

export interface Judged {
  /** One for each bar. */
  readonly lines: readonly string[];
  readonly missed: number;
}

/** A figure that was not measured, as that of kills without kills, misses nothing. */
export function judge(figures: Readonly<Record<string, number>>): Judged {
  const all = Object.entries(BARS).map(([name, most]) => ({ name, most, found: figures[name] }));
  const isMissed = ({ most, found = 0 }: (typeof all)[number]): boolean => found > most;
  return {
    lines: all.map((bar) => `${bar.name}: ${bar.found ?? 'not measured'} [at most ${bar.most}${isMissed(bar) ? ', missed' : ''}]`),
    missed: all.filter(isMissed).length,
  };
}
