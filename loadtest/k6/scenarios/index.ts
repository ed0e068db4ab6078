// The scenarios. An iteration sends each operation as often as `sends` says.
import { detail, filter, filterHuge, list, listEmpty, listHuge } from './reads.ts';
import { report } from './reports.ts';
import { webhook } from './webhooks.ts';
import { write } from './writes.ts';
import type { Client, Operation, Turn, World } from './api.ts';

export interface Scenario {
  readonly run: (client: Client, world: World, turn: Turn) => Promise<void>;
  readonly sends: Readonly<Partial<Record<Operation, number>>>;
  /** Part of the world that the scenario requires. */
  readonly needs?: 'huge' | 'empty' | 'userToken';
}

export const SCENARIOS = {
  list: { run: list, sends: { list: 1 } },
  list_huge: { run: listHuge, sends: { list_huge: 1 }, needs: 'huge' },
  list_empty: { run: listEmpty, sends: { list_empty: 1 }, needs: 'empty' },
  detail: { run: detail, sends: { detail: 1 } },
  filter: { run: filter, sends: { filter: 1 } },
  filter_huge: { run: filterHuge, sends: { filter_huge: 1 }, needs: 'huge' },
  report: { run: report, sends: { report_invoice_activity: 1 / 4, report_collections: 1 / 4, report_job_profitability: 1 / 4, report_participation: 1 / 4 } },
  write: { run: write, sends: { visit: 1, add: 1, replay: 1, remove: 1 } },
  webhook: { run: webhook, sends: { webhook_create: 1, webhook_list: 1, webhook_change: 1, webhook_health: 1, webhook_delete: 1 }, needs: 'userToken' },
} as const satisfies Record<string, Scenario>;

export type ScenarioName = keyof typeof SCENARIOS;
export const SCENARIO_NAMES = Object.keys(SCENARIOS) as ScenarioName[];

export function requestsOf(name: ScenarioName): number {
  return Object.values(SCENARIOS[name].sends).reduce((sum, sends) => sum + sends, 0);
}

/** A typical day of integrations, as shares of all requests. */
export const MIXED: Readonly<Record<ScenarioName, number>> = {
  list: 0.32,
  list_huge: 0.05,
  list_empty: 0.02,
  detail: 0.3,
  filter: 0.1,
  filter_huge: 0.03,
  report: 0.06,
  write: 0.1,
  webhook: 0.02,
};
