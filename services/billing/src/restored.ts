import { topics } from '@truckroll/contract';
import type { Restored } from '@truckroll/outbox';
import type { Queryable } from '@truckroll/postgres';
import { keyedNames, publishAnew, publishRecords, recordStates } from '@truckroll/record-store';
import { tables } from './resources/index.ts';
import { schema } from './schema.ts';

/** Invoices, payments and refunds are published again. Names are consumed from where their owner begins to publish them again. */
export const restored: Restored = {
  schema: schema.schema,
  states: recordStates(tables),
  readModels: [keyedNames],
  groups: [{ group: schema.schema, topics: [topics.names] }],
  renew: publishAnew,
};

/** Has the records of a company that has come from another database published. Not in a transaction. */
export const publishRecordsOf = (db: Queryable, companyId: string): Promise<void> => publishRecords(db, schema.schema, tables, companyId);
