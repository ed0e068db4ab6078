import { createClient, type ChangeKind, type ChangesPage, type Client, type Comparison, type SyncProgress } from '@truckroll/client';
import { openSqliteStore, type SqliteStore } from '@truckroll/client/sqlite';
import type { Command } from 'commander';
import { EXIT } from '@truckroll/integrator-cli/terminal/failure';
import { counted, createProgress, duration, type Progress } from '@truckroll/integrator-cli/terminal/progress';
import type { Session } from '../session.ts';
import { chosenKinds } from '../sync/kinds.ts';
import { explain, waitingReason } from '../sync/problems.ts';
import { table } from '@truckroll/integrator-cli/terminal/table';

/** Retries after which the API counts as away: about a minute. With --follow, the command waits for it. */
const RETRIES = 20;
/** If nothing answers at first, the address is more likely wrong than the API restarting, so this fails soon. */
const FIRST = { retries: 2, timeoutMs: 10_000 };

const HELP = `
Writes every record that the key may read into the table \`records\` (kind, id, version, changed_at, load, record as JSON),
from the change feed. Run it again to bring the copy up to date: it continues where it ended, even after it was killed. After
a restore of the database it loads every record again and deletes lost ones. Other programs may read the file at any time.

--verify compares the copy with the digests of the API. The exit code is 1 if they differ.
--follow stores every change until Ctrl-C, and waits while the API is unavailable.

Examples:
  TRUCKROLL_API_KEY_FILE=./key truckroll sync copy.db --verify
  truckroll sync books.db --only invoices payments --follow
  sqlite3 copy.db "select record ->> 'number' from records where kind = 'invoices'"`;

interface Given {
  key?: string;
  url?: string;
  only?: string[];
  follow?: boolean;
  verify?: boolean;
}

interface Syncing {
  readonly session: Session;
  readonly file: string;
  readonly api: Client;
  readonly store: SqliteStore;
  readonly options: { signal: AbortSignal; kinds?: ChangeKind[] };
}

export function register(program: Command, session: Session): void {
  program
    .command('sync')
    .description('Keep a copy of a company in a SQLite file.')
    .argument('<file>', 'the copy; created if missing')
    .option('--key <key>', 'deprecated: set TRUCKROLL_API_KEY, or TRUCKROLL_API_KEY_FILE')
    .option('--url <url>', 'address of the API; default: TRUCKROLL_URL')
    .option('--only <kinds...>', 'only these kinds of record, such as invoices')
    .option('--verify', 'compare the copy with the digests of the API')
    .option('--follow', 'keep following changes until Ctrl-C')
    .addHelpText('after', HELP)
    .action(async (file: string, given: Given) => {
      const { signal } = session.io;
      const kinds = chosenKinds(given.only);
      const baseUrl = session.baseUrl(given.url);
      const access = { baseUrl, token: session.apiKey(given.key) };
      let store: SqliteStore | undefined;
      try {
        await createClient({ ...access, ...FIRST }).get('/v1/company', { signal });
        store = await openSqliteStore(file);
        const progress = createProgress(session.io, 'syncing', 'records', session.json);
        const api = createClient({
          ...access,
          retries: given.follow ? Infinity : RETRIES,
          onRetry(retry) {
            const reason = waitingReason(retry);
            if (reason === undefined) return;
            progress.clear();
            session.note(reason);
          },
        });
        const syncing: Syncing = { session, file, api, store, options: { signal, ...(kinds && { kinds }) } };
        const caughtUp = await catchUp(syncing, progress).finally(progress.end);
        const compared = given.verify ? await api.verify(store, syncing.options) : undefined;
        report(session, file, caughtUp, compared);
        if (compared?.every(({ equal }) => equal) === false) session.exitCode = EXIT.refused;
        else if (given.follow) await follow(syncing);
      } catch (error) {
        signal.throwIfAborted();
        throw explain(error, file, baseUrl);
      } finally {
        store?.close();
      }
    });
}

interface CaughtUp {
  readonly records: number;
  readonly upserted: number;
  readonly deleted: number;
  readonly as_of: string;
  readonly seconds: number;
}

async function catchUp({ session, api, store, options }: Syncing, progress: Progress): Promise<CaughtUp> {
  const startedAt = performance.now();
  const before = await store.progress();
  let load = before?.load ?? 1;
  // Only a load has a known end.
  let total = before?.loaded ? undefined : await recordsOf(api, options);
  let done = countOf(store, load);
  const counts = { upserted: 0, deleted: 0 };
  const onPage = ({ data }: ChangesPage, after: SyncProgress): void => {
    if (after.load !== load) {
      progress.clear();
      session.note('The database was restored to an earlier moment: loading every record again.');
      load = after.load;
      total = undefined;
    }
    count(counts, data);
    done += data.length;
    progress.update(counts.upserted + counts.deleted, done, total);
  };
  const { asOf } = await api.sync(store, { ...options, onPage });
  const seconds = Math.round(performance.now() - startedAt) / 1000;
  return { records: countOf(store), ...counts, as_of: asOf, seconds };
}

async function recordsOf(api: Client, { kinds, signal }: Syncing['options']): Promise<number> {
  const { data } = await api.get('/api/v1/integrations/changes/digest', { signal, query: kinds ? { kinds } : {} });
  return data.reduce((sum, digest) => sum + digest.count, 0);
}

function countOf({ database }: SqliteStore, load?: number): number {
  const { count } = database.prepare('SELECT count(*) AS count FROM records WHERE ?1 IS NULL OR load = ?1').get(load ?? null) as { count: number };
  return count;
}

function count(counts: { upserted: number; deleted: number }, data: ChangesPage['data']): void {
  for (const { change } of data) counts[change === 'DELETED' ? 'deleted' : 'upserted'] += 1;
}

function report(session: Session, file: string, caughtUp: CaughtUp, compared: readonly Comparison[] | undefined): void {
  const { records, upserted, deleted, as_of: asOf, seconds } = caughtUp;
  const parts = [
    `${file} is complete as of ${asOf}: ${counted(records, 'record')}.`,
    `${counted(upserted, 'change')} and ${counted(deleted, 'deletion')} stored in ${duration(seconds)}.`,
  ];
  const differing = compared?.filter(({ equal }) => !equal) ?? [];
  if (compared !== undefined) {
    const [all, some] = [compared.reduce((sum, each) => sum + each.records, 0), compared.reduce((sum, each) => sum + each.compared, 0)];
    parts.push(`${some.toLocaleString('en')} of ${counted(all, 'record')} compared with the API${some < all ? '; the others are changing' : ''}.`);
    parts.push(differing.length === 0 ? 'They are equal.' : `${table(differing, { DIFFERENT: ({ kind }) => kind }, '')}\nDelete ${file}, and sync again.`);
  }
  session.print({ file, ...caughtUp, ...(compared && { compared }) }, parts.join('\n'));
}

async function follow({ session, file, api, store, options }: Syncing): Promise<void> {
  session.note('Following changes; Ctrl-C ends it.');
  const onPage = ({ data, asOf }: ChangesPage): void => {
    if (data.length === 0) return;
    const counts = { upserted: 0, deleted: 0 };
    count(counts, data);
    session.print({ file, ...counts, as_of: asOf }, `${asOf}  ${counted(counts.upserted, 'change')}, ${counted(counts.deleted, 'deletion')}`);
  };
  await api.sync(store, { ...options, follow: true, onPage }).catch((error: unknown) => {
    if (!options.signal.aborted) throw error;
  });
  session.note('Ended. Run the same command to continue.');
}
