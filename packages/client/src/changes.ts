import { wasCut } from './errors.ts';
import { numberIn } from './input.ts';
import { pause } from './send.ts';
import type { Answer, BodyOf, CallOptions, OperationAt, PagedPath, RecordOf, components } from './types.ts';

type Schemas = components['schemas'];
export const CHANGES = '/api/v1/integrations/changes';

export type ChangeKind = Schemas['Change']['kind'];
type RecordOfKind<K extends ChangeKind> = K extends 'company'
  ? Schemas['Company']
  : `/v1/${K}` extends infer P extends PagedPath
    ? RecordOf<P>
    : Record<string, unknown>;
type Changed<K extends ChangeKind> = Omit<Schemas['Change'], 'kind' | 'change' | 'record'> & { kind: K } & (
    | { change: 'UPSERTED'; record: RecordOfKind<K> }
    | { change: 'DELETED'; record: null }
  );
/** The latest change of a record: distinguished by `kind` and `change`. */
export type Change<Kinds extends ChangeKind = ChangeKind> = { [K in Kinds]: Changed<K> }[Kinds];
/** Changes, and the cursor with which the feed continues after them. */
export type ChangesPage<K extends ChangeKind = ChangeKind> = Omit<Answer<BodyOf<OperationAt<typeof CHANGES, 'get'>>>, 'data'> & { data: Change<K>[] };

export interface ChangesOptions<K extends ChangeKind = ChangeKind> extends CallOptions {
  /** Default: every kind. */
  kinds?: readonly K[];
  /** `nextCursor` of an earlier page; `now` starts with the next change. Default: from the beginning, with every record. */
  cursor?: string;
  /** Maximum number of changes in a page. Default: 1,000, the most that the API allows. */
  limit?: number;
  /** Whether to wait for further changes, by long polling, instead of ending. Default: false. */
  follow?: boolean;
  /** Maximum seconds, up to 30, for which a poll is held while nothing changes. Default: 20, because some proxies end requests after 30 seconds. */
  waitSeconds?: number;
}

const WAIT_SECONDS = 20;
const LONGEST_SECONDS = 30;
/** Minimum time between two empty answers, in ms: the API does not hold a poll while the company has 20 others. */
const EMPTY_MS = 1000;

type Get = (input: CallOptions & { query: Record<string, unknown>; held: number }) => Promise<ChangesPage>;

export async function* readChanges(get: Get, options: ChangesOptions): AsyncGenerator<ChangesPage, void, void> {
  const { kinds, cursor: first, limit = 1000, follow = false, waitSeconds = WAIT_SECONDS, ...call } = options;
  numberIn('waitSeconds', waitSeconds, 0, LONGEST_SECONDS);
  // The first pages are not held back, so that the caller learns at once when there is nothing more.
  let wait = 0;
  for (let cursor = first; ; ) {
    const askedAt = Date.now();
    const asked = (seconds: number) => get({ ...call, held: seconds, query: { kinds, cursor, limit, wait: seconds } });
    const page = await asked(wait).catch((error: unknown) => {
      // What stands between has ended the poll. A request that is not held is retried like others if the API is away.
      if (wait === 0 || options.signal?.aborted || !wasCut(error)) throw error;
      return asked(0);
    });
    yield page;
    cursor = page.nextCursor;
    if (page.hasMore) continue;
    if (!follow) return;
    const early = EMPTY_MS - (Date.now() - askedAt);
    if (wait === waitSeconds && page.data.length === 0 && early > 0) await pause(early, options.signal);
    wait = waitSeconds;
  }
}
