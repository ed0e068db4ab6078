import type { Outbox } from '@truckroll/outbox';
import type { Database } from '@truckroll/postgres';
import type { Logger } from '@truckroll/telemetry';
import type { TargetPolicy } from '@truckroll/webhook-targets';
import type { InvalidationPublisher } from './identity/invalidations.ts';
import type { DueNotices } from './webhooks/queue/due-notices.ts';
import type { Partitions } from './webhooks/log/partitions.ts';
import type { DeliveryCounter } from './webhooks/health/metrics.ts';
import type { SecretBox } from './webhooks/endpoints/secrets.ts';

export interface Context {
  readonly database: Database;
  /** Name of this cell, if it has one. */
  readonly cell: string | undefined;
  readonly invalidations: InvalidationPublisher;
  readonly outbox: Outbox;
  readonly secrets: SecretBox;
  readonly targets: TargetPolicy;
  readonly partitions: Partitions;
  readonly recoveries: {
    /** Call after committing a new recovery. */
    look(): void;
  };
  readonly notices: DueNotices;
  /** Aborted when the service begins to stop. */
  readonly stopping: AbortSignal;
  readonly deliveries: DeliveryCounter;
  readonly log: Logger;
}
