import type { CatchUp } from '@truckroll/catch-up';
import type { ErasedPerson, KafkaClient, Restored } from '@truckroll/outbox';
import type { Queryable, Transaction } from '@truckroll/postgres';
import type { BackgroundPart } from '@truckroll/process';
import type { Logger } from '@truckroll/telemetry';
import type { MentionOptions } from './mentions.ts';
import type { TableRule } from './tables.ts';

/** Rows of one kind that may show a person. */
export interface PersonStep {
  readonly table: string;
  /**
   * Done once, in the last round, if the steps before it have found nothing: the table is large, and what is stored from the beginning of that
   * round on does not show the person. It leaves no rows to other work.
   */
  readonly once?: boolean;
  /** Erases the person from the next rows after this key, in the caller's transaction. */
  readonly next: (tx: Transaction, person: ErasedPerson, after: string | null) => Promise<Stepped>;
}

export interface Stepped {
  readonly changed: number;
  /** Rows still show the person, and other work will change them. */
  readonly waits?: boolean;
  /** Where to continue; null at the end of the table. */
  readonly after: string | null;
}

export interface KnownPerson {
  readonly name: string;
  /** Names, e-mail addresses and telephone numbers, by which texts may name the person. */
  readonly knownBy: readonly string[];
}

export interface PeopleOptions {
  /** For people who have a record, in any service. */
  readonly steps: readonly PersonStep[];
  /** For users. */
  readonly ofUsers?: readonly PersonStep[];
  /** The person's record, or the user; undefined if this service does not know the id. */
  readonly find?: (db: Queryable, person: ErasedPerson) => Promise<KnownPerson | undefined>;
}

export interface Learning {
  readonly kafka: KafkaClient;
  readonly background: (part: BackgroundPart) => void;
}

export interface ErasureOptions extends MentionOptions {
  readonly catchUp: CatchUp;
  readonly log: Logger;
  /** Where the service learns deletions and erasures; absent in integrations, which begins them. */
  readonly learns?: Learning;
  /** The service's topics of state, whose keys are published as removed, and its consumers. */
  readonly restored: Pick<Restored, 'schema' | 'states' | 'groups'>;
  /** Tables without a column company_id, and those of which not all rows are removed. */
  readonly rules?: readonly TableRule[];
  /** SQL: what names the company $1::uuid and is removed by other work, in words for the operator; null if nothing does. The removal ends after that. */
  readonly waitsFor?: string;
  /** The lock of transactions that store records of the company. */
  readonly lock?: (tx: Transaction, companyId: string) => Promise<void>;
  /** Statements before the rows of users, keys and the like are removed. */
  readonly prepare?: (tx: Queryable, companyId: string) => Promise<void>;
  /** How people are erased from what the service keeps. */
  readonly people: PeopleOptions;
  /** Called after a batch has published removals. */
  readonly poke: () => void;
}
