// The change feed of one service (decisions §14): which of its records changed, in the order of commit.
import type { CatchUp } from '@truckroll/catch-up';
import type { ChangeServiceService } from '@truckroll/contract/gen/records/v1/changes';
import type { Handlers } from '@truckroll/grpc';
import type { Database } from '@truckroll/postgres';
import { PeriodicTask, logOutage, type BackgroundPart } from '@truckroll/process';
import type { Logger, Metrics } from '@truckroll/telemetry';
import { backfill } from './backfill.ts';
import { ChangeClock } from './clock.ts';
import { COMPACT_EVERY_MS, compactor } from './compaction.ts';
import { digester } from './digest.ts';
import type { OwnedKind } from './kinds.ts';
import { readChanges } from './read.ts';
import { ChangeWatch } from './watch.ts';

export interface ChangeFeed {
  readonly handlers: Handlers<typeof ChangeServiceService>;
  readonly parts: readonly BackgroundPart[];
}

export interface ChangeFeedOptions {
  readonly database: Database;
  readonly kinds: readonly OwnedKind[];
  /** Logs records that were stored before their kind was in the feed. */
  readonly catchUp: CatchUp;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** A service's part of the change feed (decisions §14): handlers of ChangeService and parts to start. Registers the back-fill of its kinds with `catchUp`. */
export function changeFeed({ database, kinds, catchUp, log, metrics }: ChangeFeedOptions): ChangeFeed {
  const clock = new ChangeClock(database, log, metrics);
  const backfilled = catchUp.add(backfill(kinds));
  const watch = new ChangeWatch(database, clock, kinds);
  const compaction = new PeriodicTask(COMPACT_EVERY_MS, compactor(database, clock), (error, failures) =>
    logOutage(log, 'the log of changes could not be compacted', failures, error),
  );
  const reading = { database, clock, backfilled, kinds: new Map(kinds.map((kind) => [kind.kind, kind])) };
  return {
    handlers: {
      readChanges: (request) => readChanges(reading, request),
      digestRecords: digester(reading),
      findChanged: (request) => watch.find(request),
    },
    parts: [clock.part, compaction.asPart('change compaction')],
  };
}
