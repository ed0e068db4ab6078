// Finds companies in which something has changed. All callers together cause at most four statements a second.
import type { AwaitedChange, FindChangedRequest, FindChangedResponse } from '@truckroll/contract/gen/records/v1/changes';
import type { Database } from '@truckroll/postgres';
import { VERSIONS_OF_EPOCH, type ChangeClock } from './clock.ts';
import type { OwnedKind } from './kinds.ts';

/** A look takes two statements, so this makes four a second. A change reaches a poll within about this time. */
const EVERY_MS = 500;

interface Waiting {
  readonly awaited: readonly AwaitedChange[];
  readonly resolve: (response: FindChangedResponse) => void;
  readonly reject: (error: unknown) => void;
}

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
      if (this.#waiting.push({ awaited, resolve, reject }) === 1) setTimeout(() => void this.#look(), EVERY_MS);
    });
  }

  async #look(): Promise<void> {
    const waiting = this.#waiting;
    this.#waiting = [];
    try {
      const { below, epoch, asOf } = await this.#clock.now();
      const all = waiting.flatMap(({ awaited }) => awaited);
      const versions = all.length === 0 ? new Map<number, number>() : await this.#changed(all, below);
      // A poll from before a restore is woken, so that its next read answers 410.
      all.forEach(({ version }, index) => {
        if (version < epoch * VERSIONS_OF_EPOCH) versions.set(index, below);
      });
      let start = 0;
      for (const { awaited, resolve } of waiting) {
        const first = start;
        start += awaited.length;
        const changed = awaited.flatMap((_, index) => {
          const version = versions.get(first + index);
          return version === undefined ? [] : [{ place: index, version }];
        });
        resolve({ changed, below, as_of: asOf });
      }
    } catch (error) {
      for (const { reject } of waiting) reject(error);
    }
  }

  async #changed(awaited: readonly AwaitedChange[], below: number): Promise<Map<number, number>> {
    const { rows } = await this.#database.query<{ ordinal: number; version: number }>({
      name: 'find_changed',
      text: `select w.ordinal, latest.version
        from unnest($1::uuid[], $2::text[], $3::bigint[]) with ordinality w(company_id, kinds, version, ordinal),
          lateral (select max(c.version) as version from unnest(w.company_id || $5::uuid[]) s(company_id), lateral (
            select version from record_changes c where c.company_id = s.company_id and c.version >= w.version and c.version < $4
              and c.kind = any(string_to_array(w.kinds, ' ')) order by version desc limit 1) c) latest
        where latest.version is not null`,
      values: [
        awaited.map(({ company_id }) => company_id),
        awaited.map(({ kinds }) => kinds.join(' ')),
        awaited.map(({ version }) => version),
        below,
        this.#shared,
      ],
    });
    return new Map(rows.map(({ ordinal, version }) => [ordinal - 1, version]));
  }
}
