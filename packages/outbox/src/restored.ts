// A service's part in the recovery after PostgreSQL was restored to an earlier moment than its topics (docs/adr/0007).
import type { Queryable } from '@truckroll/postgres';
import type { Topic } from './topics.ts';

/** Rows by the parts of their event's key, which is `<company>/<id>` for most: columns in that order, with their types. */
export interface Keyed {
  readonly topic: Topic;
  readonly table: string;
  readonly key: Readonly<Record<string, 'uuid' | 'text'>>;
}

export interface PublishedState extends Keyed {
  /** Type of the event that removes a key. */
  readonly removed: string;
}

export interface Restored {
  readonly schema: string;
  readonly states: readonly PublishedState[];
  readonly readModels: readonly Keyed[];
  /** Consumer groups. With `again` they read their topics from the beginning, otherwise they continue after the messages published before. */
  readonly groups: readonly { readonly group: string; readonly topics: readonly Topic[]; readonly again?: boolean }[];
  /** Publishes everything that the service holds again, some of it perhaps only once the service runs. */
  renew(tx: Queryable): Promise<void>;
}
