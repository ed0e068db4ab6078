// Finds companies in which something has changed. All callers together cause at most four statements a second.
import type { AwaitedChange, FindChangedRequest, FindChangedResponse } from '@truckroll/contract/gen/records/v1/changes';
import type { Database } from '@truckroll/postgres';
import type { ChangeClock } from './clock.ts';
import type { OwnedKind } from './kinds.ts';

const EVERY_MS = 250;

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

  /** Answers at the next look. */
  find({ awaited }: FindChangedRequest): Promise<FindChangedResponse> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.push({ awaited, resolve, reject }) === 1) setTimeout(() => void this.#look(), EVERY_MS);
    });
  }

  async #look(): Promise<void> {
    const waiting = this.#waiting;
    this.#waiting = [];
    try {
      const { below } = await this.#clock.now();
      const all = waiting.flatMap(({ awaited }) => awaited);
      const changed = all.length === 0 ? new Set<number>() : await this.#changed(all, below);
      let start = 0;
      for (const { awaited, resolve } of waiting) {
        const first = start;
        start += awaited.length;
        resolve({ changed: awaited.flatMap((_, index) => (changed.has(first + index) ? [index] : [])) });
      }
    } catch (error) {
      for (const { reject } of waiting) reject(error);
    }
  }

  async #changed(awaited: readonly AwaitedChange[], below: number): Promise<Set<number>> {
    const { rows } = await this.#database.query<{ place: number }>({
      name: 'find_changed',
      text: `select w.place from unnest($1::uuid[], $2::text[], $3::bigint[]) with ordinality w(company_id, kinds, version, place)
        where exists (select from record_changes p where p.company_id = w.company_id and p.version >= w.version and p.version < $4
            and p.kind = any(string_to_array(w.kinds, ' ')))
          or exists (select from unnest($5::uuid[]) s(company_id) join record_changes p on p.company_id = s.company_id
            where p.version >= w.version and p.version < $4 and p.kind = any(string_to_array(w.kinds, ' ')))`,
      values: [
        awaited.map(({ company_id }) => company_id),
        awaited.map(({ kinds }) => kinds.join(' ')),
        awaited.map(({ version }) => version),
        below,
        this.#shared,
      ],
    });
    return new Set(rows.map(({ place }) => place - 1));
  }
}
