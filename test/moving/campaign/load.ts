// A company that works: it is read, its technicians are sent to visits, its systems record service requests, and a copy follows its feed.
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Say } from '@truckroll/local-stack';
import type { Chance } from '../../../tools/cli/src/simulate/chance.ts';
import { createClient, type Client } from '../../../packages/client/src/index.ts';
import { openSqliteStore, type SqliteStore } from '../../../packages/client/src/stores/sqlite.ts';
import { importLines } from '../../changes/campaign/world.ts';
import type { Installation } from '../../faults/system/installation.ts';
import { EVENTS_OF_STORY, runStories, type Customer } from '../../faults/webhooks/stories.ts';
import { runClient } from '../../faults/writes/clients.ts';
import type { Attempt } from '../../faults/writes/history.ts';
import type { World } from '../../faults/writes/world.ts';
import { read } from '../../mixed/reader.ts';
import { demoLines } from '../../support/demo.ts';
import { chanceOf } from './seeded.ts';

/** Records of a generated company for each of its jobs. */
const RECORDS_OF_JOB = 11;
/** A quarter of the requests write. */
const WRITES = 0.25;
const [CLIENTS, SYSTEMS] = [20, 16];
const PAUSE_MS = 200;

export async function fill(installation: Installation, { company }: World, records: number, say: Say): Promise<void> {
  let count = 0;
  const size = Math.ceil(records / RECORDS_OF_JOB);
  for (const [path, lines] of demoLines({ seed: 7, size, timezone: company.timezone, until: '2026-11-20T18:00:00Z' })) {
    const { problems } = await importLines({ installation, company }, path, lines);
    if (problems.length > 0) throw new Error(`${path}: ${JSON.stringify(problems[0])}`);
    count += lines.length;
  }
  say(`  ${count} records are stored`);
}

export interface LoadOptions {
  readonly baseUrl: string;
  readonly world: World;
  readonly customer: Customer;
  /** The cell in which the company lives. Its systems write to it, because no gateway finds it for them. */
  readonly lives: () => Installation;
  readonly requests: number;
  readonly events: number;
  readonly chance: Chance;
  readonly goesOn: () => boolean;
}

export interface Load {
  readonly history: Attempt[];
  /** Reads that failed otherwise than by 503, by 429 with Retry-After, or by a lost connection. */
  readonly wrong: string[];
  /** Ends with the load. `shed`: number of reads that were answered 429, as when caches are cold; `reads`: of the others. */
  readonly ended: Promise<{ readonly reads: number; readonly shed: number }>;
}

export function startLoad({ baseUrl, world, customer, lives, requests, events, chance, goesOn }: LoadOptions): Load {
  const history: Attempt[] = [];
  const wrong: string[] = [];
  const { company, visitIds, technicianIds } = world;
  const failed = (what: string): void => {
    if (!/: 503 |TimeoutError|ECONN|socket|other side closed|terminated/.test(what)) wrong.push(what);
  };
  const thinkMs = (CLIENTS * 1000) / (requests * WRITES);
  const client = () => runClient({ baseUrl, apiKey: company.apiKey, chance: chanceOf(chance), visitIds, technicianIds, history, goesOn, thinkMs, notify: 0 });
  const pauseMs = (SYSTEMS * EVENTS_OF_STORY * 1000) / events;
  const systems = { channel: (name: string) => ({ client: (definition: never) => following(() => lives().channel(name).client(definition)) }) };
  const all = Promise.all([
    read({ baseUrl, company, rate: requests * (1 - WRITES), goesOn, failed, mayRefuse: () => 429 }),
    ...Array.from({ length: CLIENTS }, client),
    runStories(systems as never, [customer], { goesOn, atOnce: SYSTEMS, finished: [], pause: () => delay(chance.between(0, 2 * pauseMs)) }),
  ]);
  const ended = all.then(([{ reads, refused }]) => ({ reads, shed: refused }));
  ended.catch(() => undefined);
  return { history, wrong, ended };
}

/** Calls what `current` returns at that time. */
function following<T extends object>(current: () => T): T {
  return new Proxy({} as T, {
    get:
      (_, name) =>
      (...input: unknown[]) =>
        (current() as Record<string | symbol, (...all: unknown[]) => unknown>)[name]!(...input),
  });
}

export interface FollowedCopy {
  readonly store: SqliteStore;
  readonly client: Client;
  /** Number of answers 410 of the feed. */
  gone: number;
  readonly ended: Promise<void>;
}

/** A copy that follows the company's feed until `signal`. */
export async function followFeed(folder: string, baseUrl: string, apiKey: string, signal: AbortSignal): Promise<FollowedCopy> {
  const store = await openSqliteStore(join(folder, 'copy.db'));
  const watched: typeof fetch = async (...input) => {
    const response = await fetch(...input);
    if (response.status === 410) copy.gone += 1;
    return response;
  };
  const client = createClient({ baseUrl, token: apiKey, fetch: watched });
  const follow = async (): Promise<void> => {
    while (!signal.aborted) await client.sync(store, { follow: true, signal }).catch(() => delay(PAUSE_MS));
  };
  const copy = { store, client, gone: 0, ended: follow() };
  return copy;
}
