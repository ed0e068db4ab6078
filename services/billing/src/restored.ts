import { topics } from '@truckroll/contract';
import type { Restored } from '@truckroll/outbox';
import { namesReadModel, publishAnew, recordStates } from '@truckroll/record-store';
import { tables } from './resources/index.ts';
import { schema } from './schema.ts';

/** Invoices, payments and refunds are published anew; names are followed from where the owner publishes them anew. */
export const restored: Restored = {
  schema: schema.schema,
  states: recordStates(tables),
  readModels: [namesReadModel],
  groups: [{ group: schema.schema, topics: [topics.names] }],
  renew: publishAnew,
};
