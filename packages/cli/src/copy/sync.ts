import { createClient, type ChangeKind, type ChangesPage, type Client, type Comparison, type SyncProgress } from '@truckroll/client';
import { openSqliteStore, type SqliteStore } from '@truckroll/client/sqlite';
import { EXIT } from '../terminal/failure.ts';
import { counted, createProgress, duration, type Progress } from '../terminal/progress.ts';
import { explain, waitingReason } from './problems.ts';
import type { TerminalSession } from '../terminal/session.ts';
import { table } from '../terminal/table.ts';

/** Retries after which the API counts as away: about a minute. With --follow, the command waits for it. */
const RETRIES = 20;
/** If nothing answers at first, the address is more likely wrong than the API restarting, so this fails soon. */
const FIRST = { retries: 2, timeoutMs: 10_000 };

interface Syncing {
  readonly session: TerminalSession;
  readonly file: string;
  readonly api: Client;
  /** Does not repeat a call that fails. */
  readonly withoutRetries: Client;
  readonly store: SqliteStore;
  readonly options: { signal: AbortSignal; kinds?: ChangeKind[] };
}

export interface CopyOptions {
  readonly file: string;
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly kinds?: ChangeKind[] | undefined;
  readonly follow?: boolean | undefined;
  readonly verify?: boolean | undefined;
}

/** Brings the copy up to date, or follows changes until the user interrupts. Throws Failure. */
export async function keepCopy(session: TerminalSession, { file, baseUrl, apiKey, kinds, ...given }: CopyOptions): Promise<void> {
  const { signal } = session.io;
  const access = { baseUrl, token: apiKey };
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
    const syncing: Syncing = {
      session,
      file,
      api,
      withoutRetries: createClient({ ...access, ...FIRST, retries: 0 }),
      store,
      options: { signal, ...(kinds && { kinds }) },
    };
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
}

interface CaughtUp {
  readonly records: number;
  readonly upserted: number;
  readonly deleted: number;
  readonly as_of: string;
  readonly seconds: number;
}

async function catchUp({ session, api, withoutRetries, store, options }: Syncing, progress: Progress): Promise<CaughtUp> {
  const startedAt = performance.now();
  const before = await store.progress();
  let load = before?.load ?? 1;
  // Only a load has a known end.
  let total = before?.loaded ? undefined : await recordsOf(withoutRetries, options);
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

/** Undefined if the API does not answer at once, or not again in this minute: only the progress needs it. */
async function recordsOf(withoutRetries: Client, { kinds, signal }: Syncing['options']): Promise<number | undefined> {
  try {
    const { data } = await withoutRetries.get('/api/v1/integrations/changes/digest', { signal, query: kinds ? { kinds } : {} });
    return data.reduce((sum, digest) => sum + digest.count, 0);
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
}

function countOf({ database }: SqliteStore, load?: number): number {
  const { count } = database.prepare('SELECT count(*) AS count FROM records WHERE ?1 IS NULL OR load = ?1').get(load ?? null) as { count: number };
  return count;
}

function count(counts: { upserted: number; deleted: number }, data: ChangesPage['data']): void {
  for (const { change } of data) counts[change === 'DELETED' ? 'deleted' : 'upserted'] += 1;
}

function report(session: TerminalSession, file: string, caughtUp: CaughtUp, compared: readonly Comparison[] | undefined): void {
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
