// Deletes old versions of applied events, unless a dead letter with the same key must still be compared with them.
import type { Database } from '@truckroll/postgres';
import { PeriodicTask } from '@truckroll/process';
import type { Logger } from '@truckroll/telemetry';
import { TOMBSTONE_DAYS } from './topics.ts';

/**
 * Days for which an applied version is kept: as long as Kafka keeps deletions for a consumer that is away. A version stops an older event
 * of its key that arrives out of order: from a relay that publishes a batch again (minutes later), from a rebuild while the subscriber
 * runs (hours later), or as a dead letter. All others arrive in partition order, which ends with the newest event of each key.
 */
const KEEP_DAYS = TOMBSTONE_DAYS;
const EVERY_MS = 6 * 3_600_000;
const SLICE = 5000;

/** Deletes a consumer's old versions in slices, so that no statement holds many locks. Returns the number deleted. */
export async function forgetVersions(database: Pick<Database, 'query'>, consumer: string, signal?: AbortSignal): Promise<number> {
  let forgotten = 0;
  let after = { topic: '', key: '' };
  while (signal?.aborted !== true) {
    const { rows } = await database.query<Slice>({
      name: 'forget_versions',
      text: `with slice as (
          select topic, key, applied_at from inbox_version where consumer = $1 and (topic, key) > ($2, $3) order by topic, key limit ${SLICE}),
        forgotten as (
          delete from inbox_version v using slice s where v.consumer = $1 and v.topic = s.topic and v.key = s.key
            and s.applied_at < now() - $4 * interval '1 day' and v.applied_at = s.applied_at
            and not exists (select from parked_event p where p.consumer = $1 and p.topic = s.topic and p.key = s.key)
          returning 1)
        select last.topic, last.key, (select count(*) from forgotten) as forgotten
        from (select topic, key from slice order by topic desc, key desc limit 1) last`,
      values: [consumer, after.topic, after.key, KEEP_DAYS],
    });
    const [slice] = rows;
    if (slice === undefined) break;
    forgotten += slice.forgotten;
    after = slice;
  }
  return forgotten;
}

interface Slice {
  readonly topic: string;
  readonly key: string;
  readonly forgotten: number;
}

export function versionRetention(database: Database, consumer: string, log: Logger): PeriodicTask {
  return new PeriodicTask(
    EVERY_MS,
    async (signal) => void (await forgetVersions(database, consumer, signal)),
    (error) => log.debug({ error, consumer }, 'old versions of applied events were not deleted; trying again later'),
  );
}
