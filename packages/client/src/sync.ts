// Keeps a copy of a company in a store.
import type { Change, ChangesOptions, ChangesPage } from './changes.ts';
import { TruckrollError } from './errors.ts';

export interface SyncProgress {
  /** Where the feed continues. */
  readonly cursor: string;
  /** Number of the load that stores records now, from 1. A load begins without a cursor: the first one, and one after each restore of the database. */
  readonly load: number;
  /** Whether that load has ended. The copy then has no records of earlier loads. */
  readonly loaded: boolean;
}

export interface SyncPage {
  /** At most one for each record. */
  readonly changes: readonly Change[];
  /** Progress before the page; undefined for the first page of a new copy. */
  readonly before: SyncProgress | undefined;
  readonly after: SyncProgress;
  /** Whether the load ends with this page: records that only earlier loads have stored are gone, so delete them. */
  readonly endsLoad: boolean;
}

export interface StoredVersion {
  readonly kind: string;
  readonly id: string;
  readonly version: string;
}

/** Where a copy is kept: `@truckroll/client/sqlite`, `@truckroll/client/postgres`, or your own. */
export interface SyncStore {
  /** Undefined for a new copy. */
  progress(): Promise<SyncProgress | undefined>;
  /**
   * Stores a page in one transaction: its changes, each record with `after.load`, and the progress. Rejects with CopyMovedError, and stores
   * nothing, if the stored cursor is not the one of `before`.
   */
  apply(page: SyncPage): Promise<void>;
  /** All records, a batch at a time. */
  versions(): AsyncIterable<readonly StoredVersion[]>;
}

/** Another program has stored a page too: let only one program at a time sync a copy. */
export class CopyMovedError extends Error {
  override readonly name = 'CopyMovedError';

  constructor() {
    super('Another program syncs the same copy: stop one of them.');
  }
}

export interface SyncOptions extends Omit<ChangesOptions, 'cursor'> {
  /** Called after a page has been stored. */
  onPage?: (page: ChangesPage, progress: SyncProgress) => void;
}

/** Resolves once the copy is complete; with `follow`, only rejects. Resolves to the time up to which it is complete. */
export async function syncChanges(
  read: (options: ChangesOptions) => AsyncIterable<ChangesPage>,
  store: SyncStore,
  { onPage, ...options }: SyncOptions,
): Promise<{ asOf: string }> {
  let before = await store.progress();
  for (let from = before; ; from = undefined) {
    const load = from?.load ?? (before?.load ?? 0) + 1;
    let asOf = '';
    try {
      for await (const page of read({ ...options, ...(from && { cursor: from.cursor }) })) {
        const wasLoaded = before?.load === load && before.loaded;
        const after: SyncProgress = { cursor: page.nextCursor, load, loaded: wasLoaded || !page.hasMore };
        await store.apply({ changes: latestOfEach(page.data), before, after, endsLoad: after.loaded && !wasLoaded });
        before = from = after;
        asOf = page.asOf;
        onPage?.(page, after);
      }
      return { asOf };
    } catch (error) {
      // The database was restored to an earlier moment. A load that has stored nothing yet cannot have a cursor from before it.
      if (from === undefined || !(error instanceof TruckrollError) || error.code !== 'RESYNC_REQUIRED') throw error;
    }
  }
}

function latestOfEach(changes: readonly Change[]): Change[] {
  return [...new Map(changes.map((change) => [`${change.kind}/${change.id}`, change])).values()];
}
