import { migrationsIn } from '@truckroll/postgres';

/** Tables and triggers that note changes. Needs the outbox's tables. A service's own migrations call `keep_changes` for each of its kinds. */
export const changeMigrations = migrationsIn('change-feed', new URL('../migrations/', import.meta.url));

export interface ZonedCompany {
  readonly companyId: string;
  /** IANA name. */
  readonly timeZone: string;
}

export interface ReadRecord {
  /** The public id. Differs from the logged id if it is a code. */
  readonly id: string;
  /** Encoded. */
  readonly record: Uint8Array;
}

export interface OwnedKind {
  /** `invoices`. */
  readonly kind: string;
  readonly table: string;
  /** Ids are codes instead of UUIDs. */
  readonly codes?: boolean;
  /** Company id under which records that are the same in every company are stored. */
  readonly storedUnder?: string;
  /**
   * The records with these logged ids, in their order, as reads return them; undefined for those that are gone. Shorter than `ids` if the others
   * would exceed `most` bytes; at least one is read.
   */
  read(company: ZonedCompany, ids: readonly string[], most: number): Promise<readonly (ReadRecord | undefined)[]>;
}
