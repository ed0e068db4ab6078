// Finds companies in which something has changed. All callers together cause at most four statements a second.
import type { AwaitedChange, FindChangedRequest, FindChangedResponse } from '@truckroll/contract/gen/records/v1/changes';
import type { Database } from '@truckroll/postgres';
import { onBehalfOf } from '@truckroll/telemetry';
import type { ChangeClock } from './clock.ts';
import type { OwnedKind } from './kinds.ts';
import { SHIFT_COLUMNS, lowestOf, type MaybeShift } from './moment.ts';

/** A look takes two statements, so this makes four a second. A change reaches a poll within about this time. */
const EVERY_MS = 500;

interface Waiting {
  readonly awaited: readonly AwaitedChange[];
  readonly resolve: (response: FindChangedResponse) => void;
  readonly reject: (error: unknown) => void;
}

/** The shown version of the latest change, null if there is none, and the company's shift. */
type Found = MaybeShift & { readonly version: number | null };

const NOTHING: Found = { version: null, added: null };

export class ChangeWatch {
  readonly #database: Database;
  readonly #clock: ChangeClock;
  readonly #shared: readonly string[];
  #waiting: Waiting[] = [];

  constructor(database: Database, clock: ChangeClock, kinds: readonly OwnedKind[]) {
    this.#database = database;
    this.#clock = clock;
    this.#shared = [...new Set(kinds.flatMap(({ storedUnder }) => storedUnder ?? []))];
  }

  find({ awaited }: FindChangedRequest): Promise<FindChangedResponse> {
    return new Promise((resolve, reject) => {
      // On behalf of no call, because one look answers all of them.
      if (this.#waiting.push({ awaited, resolve, reject }) === 1) onBehalfOf(undefined, () => setTimeout(() => void this.#look(), EVERY_MS));
    });
  }

  async #look(): Promise<void> {
    const waiting = this.#waiting;
    this.#waiting = [];
    try {
      const { below, epoch, asOf } = await this.#clock.now();
      const all = waiting.flatMap(({ awaited }) => awaited);
      const found = all.length === 0 ? new Map<number, Found>() : await this.#changed(all, below);
      let start = 0;
      for (const { awaited, resolve } of waiting) {
        const first = start;
        start += awaited.length;
        const belows = awaited.map((_, index) => below + (found.get(first + index)?.added ?? 0));
        const changed = awaited.flatMap(({ version: from }, index) => {
          const one = found.get(first + index) ?? NOTHING;
          // A poll from before a restore is woken, so that its next read answers 410.
          const version = from < lowestOf(epoch, one) ? belows[index]! : one.version;
          return version === null ? [] : [{ place: index, version }];
        });
        const isMoved = belows.some((each) => each !== below);
        resolve(isMoved ? { changed, belows, as_of: asOf } : { changed, below, belows: [], as_of: asOf });
      }
    } catch (error) {
      for (const { reject } of waiting) reject(error);
    }
  }

  /** By the index of those in which something has changed, or that have moved here. */
  async #changed(awaited: readonly AwaitedChange[], below: number): Promise<Map<number, Found>> {
    const { rows } = await this.#database.query<Found & { ordinal: number }>({
      name: 'find_changed',
      text: `select w.ordinal, latest.version, ${SHIFT_COLUMNS}
        from unnest($1::uuid[], $2::text[], $3::bigint[]) with ordinality w(company_id, kinds, version, ordinal)
          left join shifts h on h.company_id = w.company_id,
          lateral (select max(greatest(c.version + coalesce(h.added, 0), s.raised)) as version
            from (select w.company_id, null::bigint as raised
              union all select shared, h.shared_from from unnest($5::uuid[]) shared where h.shared_from is null or h.shared_from < $4 + h.added) s,
            lateral (select version from record_changes c where c.company_id = s.company_id
              and c.version >= case when s.raised >= w.version then ${Number.MIN_SAFE_INTEGER} else w.version - coalesce(h.added, 0) end
              and c.version < $4 and c.kind = any(string_to_array(w.kinds, ' ')) order by version desc limit 1) c) latest
        where latest.version is not null or h.added is not null`,
      values: [
        awaited.map(({ company_id }) => company_id),
        awaited.map(({ kinds }) => kinds.join(' ')),
        awaited.map(({ version }) => version),
        below,
        this.#shared,
      ],
    });
    return new Map(rows.map(({ ordinal, ...found }) => [ordinal - 1, found]));
  }
}
