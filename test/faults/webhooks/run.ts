// One run: company systems record service requests, processes on the way may be killed, and the deliveries are checked.
import { setTimeout as delay } from 'node:timers/promises';
import { topics, type TopicDefinition } from '@truckroll/contract';
import type { Say } from '@truckroll/local-stack';
import { until } from '@truckroll/testing/until';
import { Chance } from '../../../tools/cli/src/simulate/chance.ts';
import { injectFaults, type FaultCount, type Faults } from '../injector.ts';
import type { Installation } from '../system/installation.ts';
import type { Running } from '../system/prepared.ts';
import { readTopic, type TopicContent } from '../system/topic.ts';
import { HANG } from '../wait.ts';
import { takeEvents } from '../writes/check/events.ts';
import { publishedEvent } from '../writes/observe.ts';
import { checkDeliveries, type Arrival, type Delivered, type Endpoint, type Published } from './check.ts';
import { DELIVERIES_OF_STORY, makeEndpoints } from './endpoints.ts';
import type { Receiver } from './receiver.ts';
import { EVENTS_OF_REQUEST, EVENTS_OF_STORY, makeCustomer, runStories } from './stories.ts';
import { violation, type Violation } from './violations.ts';

export interface WebhooksOptions {
  readonly name: string;
  readonly seed: number;
  readonly events: number;
  readonly faults?: (Pick<Faults, 'rounds' | 'gapMs' | 'awayMs' | 'pauses' | 'atOnce'> & { readonly targets: readonly string[] }) | undefined;
  readonly say: Say;
}

export interface WebhooksResult {
  readonly violations: readonly Violation[];
  readonly counts: Delivered['counts'];
  readonly faults: Readonly<Record<string, FaultCount>>;
  readonly seconds: number;
  readonly arrivals: readonly Arrival[];
  readonly published: readonly Published[];
  readonly endpoints: readonly Endpoint[];
}

const PROGRESS_MS = 10_000;
/** Number of concurrent recorders, and each one's pause between stories: fewer events than the dispatcher can deliver. */
const [AT_ONCE, PAUSE_MS] = [16, 400];
/** Longer than the lease of a killed dispatcher (60 s) and the deliveries that it held up. */
const SETTLED_MS = 300_000;
const MOST_AHEAD = 1000;
/** Per endpoint: the default of WEBHOOK_MAX_IN_FLIGHT_PER_ENDPOINT. */
const MOST_UNDER_WAY = 10;

export async function runWebhooks(installation: Installation, receiver: Receiver, options: WebhooksOptions): Promise<WebhooksResult> {
  const { name, seed, events, faults, say } = options;
  const startedAt = performance.now();
  const customers = [await makeCustomer(installation), await makeCustomer(installation)] as const;
  const endpoints = await makeEndpoints(installation, [customers[0].company, customers[1].company], receiver, name);
  const names = new Set(endpoints.map((endpoint) => endpoint.name));
  const before = receiver.arrivals.length;
  const arrived = (): number => receiver.arrivals.length - before;
  const progress = setInterval(() => say(`  ${arrived()} requests have arrived`), PROGRESS_MS);
  try {
    const chance = new Chance(seed);
    const targets = installation.targets(faults?.targets ?? []);
    const count = Math.ceil(events / EVENTS_OF_STORY);
    const finished: string[] = [];
    const ahead = (): number => finished.length * DELIVERIES_OF_STORY - arrived();
    const share = (count * DELIVERIES_OF_STORY) / ((faults?.rounds ?? 0) * targets.length + 1);
    const ready = flow(arrived, share, () => finished.length >= count && ahead() <= 0);
    const injecting = faults && injectFaults({ ...faults, targets, chance, ready, say: (line) => say(`  ${line}`) });
    const pause = async (): Promise<void> => {
      await delay(chance.between(0, 2 * PAUSE_MS));
      // Pause recording while deliveries are backed up, so that there is work to interrupt until the end.
      await until('webhooks to arrive', () => ahead() < MOST_AHEAD, Boolean, { atMostMs: SETTLED_MS });
    };
    const [, counts = {}] = await Promise.all([
      runStories(installation, customers, { goesOn: (begun) => begun < count, atOnce: AT_ONCE, pause, finished }),
      injecting,
    ]);
    say('  all is recorded; waiting until all is delivered …');
    const { published, violations: broken } = await publishedEvents(installation, new Set(customers.map(({ company }) => company.id)));
    await delivered(installation, endpoints);
    const arrivals = receiver.arrivals.filter(({ endpoint }) => names.has(endpoint));
    const result = checkDeliveries(published, endpoints, arrivals);
    const violations = [...broken, ...missing(finished, published), ...result.violations, ...tooMany(result.counts, counts, endpoints)];
    const accidents = installation.accidents.map((text) => violation('unexpected-end', text));
    return {
      violations: [...violations, ...accidents],
      counts: result.counts,
      faults: counts,
      arrivals,
      published,
      endpoints,
      seconds: (performance.now() - startedAt) / 1000,
    };
  } finally {
    clearInterval(progress);
  }
}

/** Spreads the faults over all arrivals: each waits for a further share of them, or for the end. */
function flow(arrived: () => number, share: number, over: () => boolean): () => Promise<void> {
  let next = 0;
  return async () => {
    next = Math.max(next + share, arrived() + share / 4);
    await until('webhooks to arrive', () => arrived() >= next || over(), Boolean, { atMostMs: SETTLED_MS });
  };
}

/** `content`: all of the topic, if other databases have published to it too. */
export async function publishedEvents(
  { database, kafka }: Running,
  companyIds: ReadonlySet<string>,
  content: (topic: TopicDefinition) => Promise<TopicContent> = (topic) => readTopic(kafka, topic),
): Promise<{ published: Published[]; violations: Violation[] }> {
  const waiting = async (): Promise<number> => (await database.query<{ count: number }>({ text: 'select count(*) from scheduling.outbox' })).rows[0]!.count;
  await until('an empty outbox', async () => (await waiting()) === 0, Boolean, HANG);
  const { events } = await content(topics.serviceRequests);
  const all = events
    .filter(({ companyId }) => companyIds.has(companyId))
    .map((event) => ({
      ...publishedEvent(event),
      companyId: event.companyId,
      subject: event.key.slice(event.key.indexOf('/') + 1),
      sequence: event.sequence ?? 0,
    }));
  const { bySubject, violations } = takeEvents(all);
  return { published: [...bySubject.values()].flat(), violations: violations.map(({ text }) => violation('sequence-broken', text)) };
}

/** Resolves when every published event is stored as deliveries and none is queued, or after SETTLED_MS. What has not arrived by then is lost. */
export async function delivered({ database, kafka }: Running, endpoints: readonly Endpoint[]): Promise<void> {
  const admin = kafka.admin();
  await admin.connect();
  const group = `${kafka.prefix}webhook-dispatcher`;
  const topic = kafka.prefix + topics.serviceRequests.name;
  const consumed = async (): Promise<boolean> => {
    const [ends, [places]] = [await admin.fetchTopicOffsets(topic), await admin.fetchOffsets({ groupId: group, topics: [topic] })];
    const place = new Map(places?.partitions.map(({ partition, offset }) => [partition, BigInt(offset)]));
    return ends.every(({ partition, high }) => high === '0' || (place.get(partition) ?? 0n) >= BigInt(high));
  };
  const queued = async (): Promise<number> => {
    const text = `select count(*) from integrations.webhook_queue q join integrations.webhook_endpoints e on e.id = q.endpoint_id where e.name = any($1)`;
    return (await database.query<{ count: number }>({ text, values: [endpoints.map(({ name }) => name)] })).rows[0]!.count;
  };
  try {
    await until('all deliveries', async () => (await consumed().catch(() => false)) && (await queued()) === 0, Boolean, { atMostMs: SETTLED_MS }).catch(
      () => undefined,
    );
  } finally {
    await admin.disconnect();
  }
}

function missing(requestIds: readonly string[], published: readonly Published[]): Violation[] {
  const bySubject = Map.groupBy(published, ({ subject }) => subject);
  return requestIds.flatMap((id) => {
    const count = bySubject.get(id)?.length ?? 0;
    return count === EVENTS_OF_REQUEST ? [] : [violation('event-missing', `service request ${id} has ${count} events instead of ${EVENTS_OF_REQUEST}`)];
  });
}

/** A killed dispatcher may cause redelivery of what it had in flight, at most its limit per endpoint, and nothing else. */
function tooMany({ duplicates, deliveries }: Delivered['counts'], faults: Readonly<Record<string, FaultCount>>, endpoints: readonly Endpoint[]): Violation[] {
  const most = (faults['webhook-dispatcher']?.kills ?? 0) * endpoints.length * MOST_UNDER_WAY;
  return duplicates <= most
    ? []
    : [
        violation(
          'too-many-duplicates',
          `${duplicates} of ${deliveries} deliveries came twice, where ${most} were under way at most when dispatchers were killed`,
        ),
      ];
}
