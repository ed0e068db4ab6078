// What must hold after the last move, in the cell in which the company then lives.
import { topics, type TopicDefinition } from '@truckroll/contract';
import { until } from '@truckroll/testing/until';
import { readTopic, type TopicContent } from '../../faults/system/topic.ts';
import type { Installation } from '../../faults/system/installation.ts';
import { HANG } from '../../faults/wait.ts';
import { checkDeliveries, type Arrival, type Endpoint } from '../../faults/webhooks/check.ts';
import { delivered, publishedEvents } from '../../faults/webhooks/run.ts';
import type { Kind } from '../../faults/writes/check/violations.ts';
import { check } from '../../faults/writes/checker.ts';
import type { Attempt } from '../../faults/writes/history.ts';
import { observe } from '../../faults/writes/observe.ts';
import type { Observed, StoredVisit } from '../../faults/writes/observed.ts';
import { settled } from '../../faults/writes/run.ts';
import type { World } from '../../faults/writes/world.ts';
import { truckroll } from '../../changes/campaign/command.ts';
import type { Cells } from './cells.ts';
import type { FollowedCopy } from './load.ts';
import { numberedEvents } from './topics.ts';

export interface Wrong {
  readonly kind: string;
  readonly text: string;
}

export interface Checked {
  readonly wrong: readonly Wrong[];
  readonly counts: Readonly<
    Record<
      'writes' | 'writes_lost' | 'events' | 'sequences_broken' | 'webhooks' | 'webhooks_lost' | 'webhooks_repeated' | 'unverified' | 'digests_unequal',
      number
    >
  >;
}

export interface Checking {
  readonly cells: Cells;
  readonly lives: Installation;
  readonly world: World;
  readonly before: readonly StoredVisit[];
  readonly history: readonly Attempt[];
  readonly endpoints: readonly Endpoint[];
  readonly arrivals: readonly Arrival[];
  readonly copy: FollowedCopy;
}

/** The last two: of a write that an open fence let through, whose event is published. */
const LOST: readonly string[] = ['acknowledged-without-effect', 'visit-differs-from-events', 'assignment-differs-from-events'] satisfies Kind[];

export const writesLost = (wrong: readonly Wrong[]): number => wrong.filter(({ kind }) => LOST.includes(kind)).length;

export async function checkAll({ cells, lives, world, before, history, endpoints, arrivals, copy }: Checking): Promise<Checked> {
  const { company } = world;
  await until('all records to be published where the company lives', () => isPublished(lives), Boolean, HANG);
  const wrongReadModels = await settled(lives, company, 120_000);
  const wrong: Wrong[] = [];
  const content = async (topic: TopicDefinition): Promise<TopicContent> => {
    if (topic === topics.assignments) return await readTopic(lives.kafka, topic);
    const { disorder, ...all } = await numberedEvents(cells, topic);
    wrong.push(...disorder.map((text) => ({ kind: 'sequence-broken', text })));
    return all;
  };
  const writes = check(history, ofVisits(await observe(lives, company, before, wrongReadModels, content), world));
  const { published, violations } = await publishedEvents(lives, new Set(endpoints.map(({ companyId }) => companyId)), content);
  for (const cell of [cells.home, cells.west]) await delivered(cell, endpoints);
  const webhooks = checkDeliveries(published, endpoints, arrivals);
  wrong.push(...writes.violations, ...violations, ...webhooks.violations, ...(await differences(cells, company.id)), ...(await wrongDigests(copy)));
  const count = (kind: string): number => wrong.filter((each) => each.kind === kind).length;
  const counts = {
    writes: writes.counts['acknowledged'] ?? 0,
    writes_lost: writesLost(wrong),
    events: published.length,
    sequences_broken: count('sequence-broken'),
    webhooks: webhooks.counts.deliveries,
    webhooks_lost: count('lost'),
    webhooks_repeated: webhooks.counts.duplicates,
    unverified: count('verify'),
    digests_unequal: count('digest-differs'),
  };
  return { wrong, counts };
}

async function isPublished({ database }: Installation): Promise<boolean> {
  const { rows } = await database.query<{ done: boolean }>({
    text: `select not exists (select from scheduling.catch_up where task = 'publish' and not complete) as done`,
  });
  return rows[0]!.done;
}

/** Without the service requests of stories, which change by themselves. */
function ofVisits(observed: Observed, { visitIds }: World): Observed {
  const visits = new Set(visitIds);
  const requests = observed.requests.filter(({ visitId }) => visitId !== undefined && visits.has(visitId));
  const ids = new Set(requests.map(({ id }) => id));
  return { ...observed, requests, requestEvents: observed.requestEvents.filter(({ subject }) => ids.has(subject)) };
}

/** What `truckroll verify` lists in either cell, and what moves have left behind. */
async function differences({ home, west }: Cells, companyId: string): Promise<Wrong[]> {
  const wrong: Wrong[] = [];
  for (const cell of [home, west]) {
    const left = await cell.database.query<{ what: string }>({
      text: `select 'slot ' || slot_name as what from pg_replication_slots union all select 'subscription ' || subname from pg_subscription
        union all select 'move ' || step from integrations.moves where company_id = $1`,
      values: [companyId],
    });
    wrong.push(...left.rows.map(({ what }) => ({ kind: 'left-behind', text: what })));
    await truckroll(['verify'], cell.operator, cell.folder).catch((error: unknown) => wrong.push({ kind: 'verify', text: String(error) }));
  }
  return wrong;
}

async function wrongDigests({ client, store }: FollowedCopy): Promise<Wrong[]> {
  await until(
    'the copy to be complete',
    () => client.sync(store).catch((error: unknown) => error),
    (found) => !(found instanceof Error),
    HANG,
  );
  const compared = await client.verify(store);
  return compared.filter(({ equal }) => !equal).map(({ kind, records }) => ({ kind: 'digest-differs', text: `${kind}, ${records} records` }));
}
