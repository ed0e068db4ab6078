// Query plans of the services' real statements and values, from PostgreSQL's auto_explain.
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { Stack } from '../system/stack.ts';
import type { Subject, Timed } from './subjects.ts';

export interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly Plans?: readonly PlanNode[];
}
interface Entry {
  readonly ms: number;
  readonly text: string;
  readonly plan: PlanNode;
}

const SETTINGS = {
  session_preload_libraries: 'auto_explain',
  'auto_explain.log_min_duration': '0',
  'auto_explain.log_analyze': 'on',
  'auto_explain.log_format': 'json',
  'auto_explain.log_parameter_max_length': '0',
};
const READY_MS = 30_000;
/** Wait for the log, because PostgreSQL answers before it writes the plan. */
const WRITTEN_MS = 30;

export type Explained = (subject: Subject, operation: string, times: number) => Promise<string>;

/** Enables auto_explain while `work` runs. Services reconnect before and after, because connections keep their settings. */
export async function explaining<T>(stack: Stack, work: (explained: Explained) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: stack.databaseUrl });
  await client.connect();
  try {
    await client.query(`load 'auto_explain'`);
    for (const [name, value] of Object.entries(SETTINGS)) await client.query(`alter system set ${name} = '${value}'`);
    await connectAnew(client);
    return await work((subject, operation, times) => longestPlan(join(stack.folder, 'logs/postgres.log'), subject, operation, times));
  } finally {
    for (const name of Object.keys(SETTINGS)) await client.query(`alter system reset ${name}`);
    await connectAnew(client);
    await client.end();
  }
}

async function connectAnew(client: pg.Client): Promise<void> {
  await client.query('select pg_reload_conf()');
  await client.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()');
}

/** The slowest statement, in total time, of those that each run of the operation sends. */
async function longestPlan(file: string, { send }: Subject, operation: string, times: number): Promise<string> {
  await answered(() => send((_, __, work) => work()));
  let log = '';
  const logged: Timed = async (name, _, work) => {
    if (name !== operation) return await work();
    const from = statSync(file).size;
    const result = await work();
    await delay(WRITTEN_MS);
    log += tail(file, from);
    return result;
  };
  for (let i = 0; i < times; i++) await send(logged);
  const own = [...Map.groupBy(entriesOf(log), ({ text }) => text).values()].filter((same) => same.length >= times);
  const total = (entries: readonly Entry[]): number => entries.reduce((sum, { ms }) => sum + ms, 0);
  const [longest] = own.toSorted((x, y) => total(y) - total(x));
  if (longest === undefined) return 'no statement';
  return `${(total(longest) / longest.length).toFixed(2)} ms: ${planLine((longest.at(-1) as Entry).plan)}`;
}

/** Retries until the service has new connections in place of the terminated ones. */
async function answered(send: () => Promise<void>): Promise<void> {
  for (const deadline = performance.now() + READY_MS; ; await delay(100)) {
    try {
      await send();
      return;
    } catch (error) {
      if (performance.now() > deadline) throw error;
    }
  }
}

function tail(file: string, from: number): string {
  return readFileSync(file).toString('utf8', from);
}

/** Extracts the plans from part of the PostgreSQL log, whose continuation lines begin with a tab. */
export function entriesOf(log: string): Entry[] {
  return [...log.matchAll(/duration: ([\d.]+) ms {2}plan:\n((?:\t.*\n)+)/g)].map(([, ms, body]) => {
    const { 'Query Text': text, Plan: plan } = JSON.parse(body as string) as { 'Query Text': string; Plan: PlanNode };
    return { ms: Number(ms), text, plan };
  });
}

/** A plan in one line: how each table is read and how many rows that returned, with inner nodes in parentheses. */
export function planLine(node: PlanNode): string {
  const { 'Node Type': type, 'Index Name': index, 'Relation Name': relation, Plans: inner = [] } = node;
  const what = index ?? relation;
  const rows = Math.round(node['Actual Rows'] * node['Actual Loops']);
  const own = what === undefined ? type : `${type} ${what} ${rows}`;
  if (type === 'Append') return `${inner.length} parts, each ${planLine(inner[0] as PlanNode)}`;
  // Nodes that only pass rows on do not affect the cost.
  if (['Limit', 'Subquery Scan', 'Memoize', 'Materialize', 'Result'].includes(type) && inner.length === 1) return planLine(inner[0] as PlanNode);
  return inner.length === 0 ? own : `${own} (${inner.map(planLine).join(', ')})`;
}
