// Integrations begins the deletion of a company and publishes it to a topic that keeps it. The other services learn it there, also
// if the command or a service stopped meanwhile, and after a restore.
import { isUuid, topics } from '@truckroll/contract';
import { AuditEntry } from '@truckroll/contract/gen/events/v1/audit';
import { endsOf, erasedOf, markErased, replay } from '@truckroll/outbox';
import { PeriodicTask, logOutage } from '@truckroll/process';
import type { ErasureOptions, Learning } from './options.ts';

/** Action of the entries that say that a company was deleted. */
const DELETED = 'company.deleted';
/** Interval between looks at the end of the topic, and wait after an error, in ms. */
const LOOK_MS = 60_000;
const AGAIN_MS = 5000;

/** Reads the topic when it has grown, and marks the companies that are new. */
export function learning({ database, lock, log }: ErasureOptions, { kafka }: Learning, learnt: () => void): PeriodicTask {
  let read: string | undefined;
  const learn = async (signal: AbortSignal): Promise<void> => {
    const offsets = (await endsOf(kafka, [topics.erasures])).get(topics.erasures.name);
    const ends = JSON.stringify(offsets);
    // Integrations has not created it yet.
    if (offsets === undefined || ends === read) return;
    const ids = new Set<string>();
    await replay({
      kafka,
      topic: topics.erasures,
      signal,
      async apply(events) {
        for (const { payload } of events) {
          const entry = AuditEntry.decode(payload ?? Buffer.alloc(0));
          if (entry.action === DELETED && isUuid(entry.company_id)) ids.add(entry.company_id);
        }
      },
    });
    const known = await erasedOf(database, [...ids]);
    for (const companyId of [...ids].filter((id) => !known.has(id))) {
      await database.of(companyId).transaction(async (tx) => {
        await lock?.(tx, companyId);
        await markErased(tx, companyId);
      });
      log.info({ companyId }, 'removing a company that was deleted');
    }
    read = ends;
    learnt();
  };
  const failed = (error: unknown, failures: number): void =>
    logOutage(log, `cannot read ${topics.erasures.name}, which names deleted companies`, failures, error);
  return new PeriodicTask(LOOK_MS, learn, failed, AGAIN_MS);
}
