// Generates recording rules and multi-window burn-rate alerts from loadtest/slo.json (Google's SRE workbook, chapter 5).
import { stringify } from 'yaml';

export interface Objective {
  readonly name: string;
  readonly promise: string;
  readonly target: number;
  /** Counter selectors for all events and for bad ones. Without `bad`, events that take longer than `withinMs` are bad. */
  readonly total: string;
  readonly bad?: string;
  /** Milliseconds; must be one of the histogram's bounds. */
  readonly withinMs?: number;
}

export interface Objectives {
  readonly windowDays: number;
  readonly objectives: readonly Objective[];
}

/** An alert fires when both windows burn the budget at `rate`: the long one shows how much is gone, the short one that it still burns. */
const BURNS = [
  { alert: 'BudgetBurnsFast', severity: 'page', long: '1h', short: '5m', rate: 14.4, wait: '2m' },
  { alert: 'BudgetBurns', severity: 'page', long: '6h', short: '30m', rate: 6, wait: '15m' },
  { alert: 'BudgetBurnsSlowly', severity: 'ticket', long: '3d', short: '6h', rate: 1, wait: '1h' },
] as const;

const HEAD = '# Written from loadtest/slo.json by `node scripts/run.mjs observability`: change that instead.\n';

export function sloRules({ windowDays, objectives }: Objectives): string {
  const windows = [...new Set(BURNS.flatMap(({ short, long }) => [short, long]))];
  const recorded = objectives.flatMap((objective) =>
    windows.map((window) => ({ record: recordOf(window), expr: errorRatio(objective, window), labels: { slo: objective.name } })),
  );
  const alerts = objectives.flatMap(({ name, promise, target }) =>
    BURNS.map(({ alert, severity, long, short, rate, wait }) => ({
      alert,
      expr: `${recordOf(long)}{slo="${name}"} > ${budget(target, rate)} and ${recordOf(short)}{slo="${name}"} > ${budget(target, rate)}`,
      for: wait,
      labels: { severity, slo: name },
      annotations: {
        summary: `${promise} In the last ${long} {{ $value | humanizePercentage }} were not: more than ${rate} times what ${target * 100} % over ${windowDays} days leave room for`,
        runbook: `docs/how-to/runbook.md#${alert.toLowerCase()}`,
      },
    })),
  );
  return HEAD + stringify({ groups: [{ name: 'truckroll-slo', rules: [...recorded, ...alerts] }] }, { lineWidth: 0 });
}

function recordOf(window: string): string {
  return `slo:errors:ratio_rate${window}`;
}

/** Removes the rounding errors of binary fractions. */
function budget(target: number, rate: number): number {
  return Number(((1 - target) * rate).toPrecision(6));
}

function errorRatio({ total, bad, withinMs }: Objective, window: string): string {
  const sum = (selector: string): string => `sum(rate(${selector}[${window}]))`;
  // Without a bad event there is no series, which means a ratio of 0.
  if (bad !== undefined) return `(${sum(bad)} or vector(0)) / ${sum(total)}`;
  if (withinMs === undefined) throw new Error(`an objective over ${total} needs bad or withinMs`);
  const good = total.replace(/_count\{(.*)\}$/, (_, labels: string) => `_bucket{${labels},le="${withinMs / 1000}"}`);
  return `1 - ${sum(good)} / ${sum(total)}`;
}
