// Two cells for tests of moves: each has a PostgreSQL, topics and services, and one gateway knows both.
import { randomBytes, randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { addressVariable, owners } from '@truckroll/contract';
import { IntakeServiceService } from '@truckroll/contract/gen/scheduling/v1/intake';
import { ServiceRequestChannel } from '@truckroll/contract/gen/scheduling/v1/service_requests';
import { Watchdog, runFolder } from '@truckroll/local-stack';
import { migrate } from '@truckroll/postgres';
import type { Service } from '@truckroll/process';
import { testCaller } from '@truckroll/testing';
import { startReceiver, type Receiver } from '../../services/webhook-dispatcher/test/support/receiver.ts';
import { tablesOf } from '../../tools/cli/src/moving/tables.ts';
import { run } from '../../tools/cli/src/run.ts';
import { SCHEMAS } from '../support/components.ts';
import { startLogicalPostgres } from '../support/logical-postgres.ts';
import { newStorage, startSystem, type System, type TestCompany } from '../support/system.ts';

export interface TwoCells {
  /** With the gateway. */
  readonly here: System;
  readonly there: System;
  /** That of `here`. */
  dispatcher: Service;
  readonly receiver: Receiver;
  stop(): Promise<void>;
}

export async function startTwoCells(runs: string): Promise<TwoCells> {
  const watchdog = new Watchdog();
  const ends: End[] = [() => watchdog.stopAll()];
  const stop = async (): Promise<void> => {
    for (const end of ends.splice(0).toReversed()) await end();
  };
  try {
    return { ...(await start(runs, watchdog, ends)), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

type End = () => Promise<unknown>;

/** Adds to `ends` what stops each part, also if a later one fails. */
async function start(runs: string, watchdog: Watchdog, ends: End[]): Promise<Omit<TwoCells, 'stop'>> {
  const folder = runFolder(runs);
  watchdog.deleteAtEnd(folder);
  const startDatabase = async (name: string): Promise<string> => {
    const url = await startLogicalPostgres(join(folder, name), watchdog);
    for (const { schema, migrations } of SCHEMAS) await migrate({ url, schema, sets: migrations });
    return url;
  };
  const [left, right] = await Promise.all([startDatabase('here'), startDatabase('there')]);
  let later = 0;
  // At this path it takes nothing the first time.
  const receiver = await startReceiver((response, { path }) => void response.writeHead(path.endsWith(LATER) && later++ === 0 ? 503 : 204).end());
  ends.push(() => receiver.close());
  // Both cells read what the other one has encrypted.
  const secretKey = randomBytes(32);
  const settings = { webhookAllowedTargets: [receiver.target] };
  const there = await startSystem({ ...settings, storage: { ...newStorage(right), secretKey }, cell: 'west' });
  ends.push(() => there.stop());
  const CELLS = owners.map((owner) => `west/${owner}=${there.gatewayEnvironment[addressVariable(owner)]}`).join();
  const here = await startSystem({ ...settings, storage: { ...newStorage(left), secretKey }, cell: 'home', gatewaySettings: { CELL: 'home', CELLS } });
  ends.push(() => here.stop());
  // What was published in a cell is applied before a company leaves it.
  const [dispatcher] = [await here.startDispatcher(), await there.startDispatcher()];
  return { here, there, dispatcher, receiver };
}

/** End of the address at which the receiver refuses its first webhook. */
export const LATER = '/later';

export class Died extends Error {}

export type Outcome = { readonly code: number; readonly stdout: string; readonly words: readonly string[] };

export interface Ends {
  readonly dies?: string;
  readonly signal?: AbortSignal;
}

/** `truckroll company move`, which dies when it says something that begins with `dies`. */
export async function runMove(
  args: readonly string[],
  env: Record<string, string | undefined>,
  { dies, signal = new AbortController().signal }: Ends = {},
): Promise<Outcome> {
  let stdout = '';
  const words: string[] = [];
  const write = (word: string): void => {
    words.push(word);
    if (dies !== undefined && word.startsWith(dies)) throw new Died(word);
  };
  const code = await run(['--json', 'company', 'move', ...args], {
    env,
    cwd: tmpdir(),
    stdout: { write: (text) => (stdout += text) },
    stderr: { write, isTTY: false },
    signal,
  });
  return { code, stdout, words };
}

export function environment(system: System, prefix: string): Record<string, string> {
  const addresses = Object.entries(system.gatewayEnvironment).filter(([name]) => name.endsWith('_ADDRESS'));
  const all = [...addresses, ['DATABASE_URL', system.serviceEnvironment['DATABASE_URL']!] as const, ['CALL_CREDENTIAL', testCaller('operator').text] as const];
  return Object.fromEntries(all.map(([name, value]) => [prefix + name, value]));
}

export const rowsOf = async <R = Record<string, any>>(system: System, text: string, ...values: unknown[]) =>
  (await system.database.query<R>({ text, values })).rows;

/** Stores a service request, whose id it returns. */
export async function record(system: System, company: TestCompany): Promise<string> {
  const id = randomUUID();
  const intake = system.channel('scheduling').client(IntakeServiceService);
  await intake.recordServiceRequest({ company_id: company.id, id, channel: ServiceRequestChannel.PHONE, summary: 'during' });
  return id;
}

/** Number of rows of the company, by table that has any, without erasures of people, which services learn again. */
export async function counts(system: System, company: TestCompany): Promise<Record<string, number>> {
  const found: Record<string, number> = {};
  for (const { name, key } of (await tablesOf(system.database)).filter(({ table }) => table !== 'erased_people')) {
    const [row] = await rowsOf<{ count: number }>(system, `select count(*) as count from ${name} where ${key} = $1`, company.id);
    if (row!.count > 0) found[name] = row!.count;
  }
  return found;
}

/** What is left of a move, except how the feed of the company is shown where it lives. */
export async function tracesIn(...systems: readonly System[]): Promise<unknown[]> {
  const found: unknown[] = [];
  for (const system of systems) {
    found.push(...(await rowsOf(system, 'select slot_name from pg_replication_slots')));
    found.push(...(await rowsOf(system, 'select pubname from pg_publication')));
    found.push(...(await rowsOf(system, 'select subname from pg_subscription')));
    found.push(...(await rowsOf(system, 'select company_id from integrations.moves union select company_id from integrations.company_places')));
    for (const owner of owners) found.push(...(await rowsOf(system, `select company_id from ${owner}.frozen_companies`)));
    found.push(...(await rowsOf(system, `select tgname from pg_trigger where tgname like any(array['frozen%', 'arriving%'])`)));
  }
  return found;
}

/** The schemas that show versions of the feed as others than they store. */
export async function shiftedIn(system: System, { id }: TestCompany): Promise<string[]> {
  const found: string[] = [];
  for (const owner of owners) if ((await rowsOf(system, `select from ${owner}.shifts where company_id = $1`, id)).length > 0) found.push(owner);
  return found;
}
