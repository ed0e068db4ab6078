import type { CatchUp } from '@truckroll/catch-up';
import type { EraseCompanyRequest } from '@truckroll/contract/gen/records/v1/erasures';
import type { Restored } from '@truckroll/outbox';
import type { Database, Queryable, Transaction } from '@truckroll/postgres';
import type { TableRule } from './tables.ts';

export interface ErasureOptions {
  readonly database: Database;
  readonly catchUp: CatchUp;
  /** The service's topics of state, whose keys are published as removed, and its consumers. */
  readonly restored: Pick<Restored, 'schema' | 'states' | 'groups'>;
  /** Tables without a column company_id, and those of which not all rows are removed. */
  readonly rules?: readonly TableRule[];
  /** SQL that selects rows which name the company in $1::uuid and which other work deletes. The removal ends after those are gone. */
  readonly waitsFor?: readonly string[];
  /** The lock of transactions that store records of the company. */
  readonly lock?: (tx: Transaction, companyId: string) => Promise<void>;
  /** Refuses the company's data from now on. Default: `markErased`. Errors: refuses the call. */
  readonly begin?: (request: EraseCompanyRequest) => Promise<void>;
  /** Statements before the rows of users, keys and the like are removed. */
  readonly prepare?: (tx: Queryable, companyId: string) => Promise<void>;
  /** Called after a batch has published removals. */
  readonly poke: () => void;
}
