import type { Outbox } from '@truckroll/outbox';
import type { Database, Logger } from '@truckroll/service-kit';
import type { Invalidations } from './identity/invalidations.ts';

/** What the handlers of this service work with. */
export interface Context {
  readonly database: Database;
  readonly invalidations: Invalidations;
  readonly outbox: Outbox;
  readonly log: Logger;
}
