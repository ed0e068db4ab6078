// Integrations publishes deletions of companies and erasures of people to a topic that keeps them. The other services learn them there, also
// after an interrupted command, a restart or a restore.
import { isUuid, topics } from '@truckroll/contract';
import { AuditEntry } from '@truckroll/contract/gen/events/v1/audit';
import {
  COMPANY_DELETED,
  PERSON_ERASED,
  endsOf,
  erasedOf,
  erasedPeopleAmong,
  markErased,
  markPersonErased,
  personKey,
  replay,
  type AskedErasure,
} from '@truckroll/outbox';
import { frozenAmong } from '@truckroll/postgres';
import { PeriodicTask, logOutage } from '@truckroll/process';
import type { ErasureOptions, Learning } from './options.ts';

/** Interval between looks at the end of the topic, and wait after an error, in ms. */
const LOOK_MS = 60_000;
const AGAIN_MS = 5000;

/** Reads the topic when it has grown, and marks the companies and people that are new. */
export function learning({ database, lock, log }: ErasureOptions, { kafka }: Learning, learnt: () => void): PeriodicTask {
  let read: string | undefined;
  const learn = async (signal: AbortSignal): Promise<void> => {
    const offsets = (await endsOf(kafka, [topics.erasures])).get(topics.erasures.name);
    const ends = JSON.stringify(offsets);
    // Integrations has not created it yet.
    if (offsets === undefined || ends === read) return;
    const ids = new Set<string>();
    const people = new Map<string, AskedErasure>();
    await replay({
      kafka,
      topic: topics.erasures,
      signal,
      async apply(events) {
        for (const { payload } of events) {
          const { action, company_id: companyId, object_kind: kind, object_id: id, at } = AuditEntry.decode(payload ?? Buffer.alloc(0));
          if (action === COMPANY_DELETED && isUuid(companyId)) ids.add(companyId);
          if (action !== PERSON_ERASED || !isUuid(companyId) || !isUuid(id)) continue;
          const person = { companyId, kind, id, askedAt: at };
          if (at >= (people.get(personKey(person))?.askedAt ?? 0)) people.set(personKey(person), person);
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
    const asked = [...people.values()];
    const found = await erasedPeopleAmong(
      database,
      [...new Set(asked.map(({ companyId }) => companyId))],
      asked.map(({ id }) => id),
    );
    for (const person of found) if (person.askedAt >= (people.get(personKey(person))?.askedAt ?? 0)) people.delete(personKey(person));
    const frozen = await frozenAmong(database, [...new Set([...people.values()].map(({ companyId }) => companyId))]);
    for (const person of people.values()) {
      if (ids.has(person.companyId) || frozen.has(person.companyId)) continue;
      await database.of(person.companyId).transaction(async (tx) => {
        await lock?.(tx, person.companyId);
        await markPersonErased(tx, person);
      });
      log.info({ companyId: person.companyId, kind: person.kind, id: person.id }, 'erasing a person');
    }
    // Those of frozen companies are learnt after the freeze.
    if (frozen.size === 0) read = ends;
    learnt();
  };
  const failed = (error: unknown, failures: number): void =>
    logOutage(log, `cannot read ${topics.erasures.name}, which names deleted companies and erased people`, failures, error);
  return new PeriodicTask(LOOK_MS, learn, failed, AGAIN_MS);
}
