import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { createClient, type Client } from '../../../packages/client/src/index.ts';
import { openSqliteStore, type SqliteStore } from '../../../packages/client/src/stores/sqlite.ts';
import type { Acknowledged, World } from './world.ts';

/** Pause after a failure, in ms: what is down needs a moment to start. */
const PAUSE_MS = 100;

export interface ReaderCounts {
  pages: number;
  kills: number;
  /** Records of which a copy was wrong at a moment that it claimed to know. */
  readonly broken: string[];
}

export interface Reader {
  readonly file: string;
  readonly limit: number;
  /** Maximum number of pages after which its process is killed, and how often; it follows within the test's process if absent. */
  readonly killed?: { readonly pages: number; readonly times: number };
}

export function clientOf({ installation, company }: Pick<World, 'installation' | 'company'>): Client {
  return createClient({ baseUrl: installation.baseUrl, token: company.apiKey });
}

export function follow(world: World, reader: Reader, counts: ReaderCounts, signal: AbortSignal): Promise<void> {
  return reader.killed === undefined ? followHere(world, reader, counts, signal) : followInProcesses(world, reader, counts, signal);
}

async function followHere(world: World, { file, limit }: Reader, counts: ReaderCounts, signal: AbortSignal): Promise<void> {
  const store = await openSqliteStore(file);
  try {
    while (!signal.aborted) {
      const following = clientOf(world).sync(store, {
        follow: true,
        limit,
        signal,
        onPage({ hasMore, asOf }) {
          counts.pages += 1;
          if (!hasMore) counts.broken.push(...brokenAt(store, world.acknowledged, Date.parse(asOf)));
        },
      });
      await following.catch(() => delay(PAUSE_MS));
    }
  } finally {
    store.close();
  }
}

/** Rule 1 of decisions §14: without more pages, the copy has every record that has not changed since that moment. */
function brokenAt({ database }: SqliteStore, { complete, removed }: Acknowledged, asOf: number): string[] {
  const find = database.prepare('select 1 from records where kind = ? and id = ?');
  const holds = (key: string): boolean => find.get(...key.split('/')) !== undefined;
  const before = (times: ReadonlyMap<string, number>): string[] => [...times].filter(([, at]) => at < asOf).map(([key]) => key);
  return [
    ...before(complete)
      .filter((key) => !holds(key))
      .map((key) => `lacked ${key} as of ${new Date(asOf).toISOString()}`),
    ...before(removed)
      .filter(holds)
      .map((key) => `held ${key} as of ${new Date(asOf).toISOString()}, removed before`),
  ];
}

async function followInProcesses(world: World, { file, limit, killed }: Reader, counts: ReaderCounts, signal: AbortSignal): Promise<void> {
  const { installation, company, chance } = world;
  const { PATH } = process.env;
  const env = { PATH, URL: installation.baseUrl, KEY: company.apiKey, STORE: 'sqlite', PLACE: file, LIMIT: String(limit), FOLLOW: 'yes' };
  for (let kills = 0; !signal.aborted; ) {
    const most = kills < killed!.times ? 1 + chance.below(killed!.pages) : Infinity;
    const child = spawn(process.execPath, ['--no-warnings', join(import.meta.dirname, '../sync-process.ts')], { env, stdio: ['ignore', 'pipe', 'ignore'] });
    const end = (): void => void child.kill('SIGKILL');
    signal.addEventListener('abort', end);
    const ended = once(child, 'exit');
    let pages = 0;
    for await (const _ of createInterface({ input: child.stdout })) {
      if ((pages += 1) !== most) continue;
      end();
      kills += 1;
      counts.kills += 1;
    }
    await ended;
    signal.removeEventListener('abort', end);
    counts.pages += pages;
  }
}
