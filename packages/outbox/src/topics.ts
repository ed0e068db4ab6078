import type { TopicDefinition } from '@truckroll/contract';
import { logOutage, retrying } from '@truckroll/process';
import type { Logger } from '@truckroll/telemetry';
import kafkajs, { type Admin, type ITopicConfig } from 'kafkajs';
import { withAdmin } from './admin.ts';
import type { KafkaClient } from './kafka.ts';
import { LARGEST_MESSAGE, noteLimit } from './topic-limits.ts';

export type Topic = TopicDefinition;

const DAY_MS = 86_400_000;
/** Days for which a compacted topic keeps deletions, and so the longest time a consumer may be away. */
export const TOMBSTONE_DAYS = 14;
/** Time after which a compacted topic deletes replaced messages: erased data is gone within a day (decisions §19). */
const LONGEST_REPLACED_MS = DAY_MS / 2;

/**
 * Creates missing topics, with three replicas if there are three brokers. Never changes an existing topic, whose settings belong to
 * its operator, but warns if it accepts smaller messages than an import may need. Safe to run concurrently. Retries until aborted.
 */
export async function ensureTopics(kafka: KafkaClient, topics: readonly Topic[], log: Logger, signal: AbortSignal): Promise<void> {
  await retrying(
    () => createMissing(kafka, topics, log),
    (error, failures) => {
      logOutage(log, 'waiting for Kafka to create topics', failures, error);
      return true;
    },
    signal,
  );
}

async function createMissing(kafka: KafkaClient, topics: readonly Topic[], log: Logger): Promise<void> {
  await withAdmin(kafka, async (admin) => {
    const existing = new Set(await admin.listTopics());
    const wanted = topics.map((topic) => ({ ...topic, name: kafka.prefix + topic.name }));
    await noteLimits(
      admin,
      kafka.prefix,
      wanted.filter((topic) => existing.has(topic.name)),
      log,
    );
    const missing = wanted.filter((topic) => !existing.has(topic.name));
    if (missing.length === 0) return;
    const replicas = Math.min(3, (await admin.describeCluster()).brokers.length);
    await admin.createTopics({ topics: missing.map((topic) => configOf(topic, replicas)), waitForLeaders: true });
    log.info({ topics: missing.map((topic) => topic.name) }, 'created topics');
  });
}

const LIMIT = 'max.message.bytes';

/** Assumes the default limit if the service may not read topic settings. */
async function noteLimits(admin: Admin, prefix: string, topics: readonly Topic[], log: Logger): Promise<void> {
  if (topics.length === 0) return;
  const resources = topics.map(({ name }) => ({ type: kafkajs.ConfigResourceTypes.TOPIC, name, configNames: [LIMIT] }));
  const described = await admin.describeConfigs({ includeSynonyms: false, resources }).catch((error: unknown) => {
    log.info({ err: error }, `cannot read ${LIMIT} of topics`);
    return undefined;
  });
  for (const { resourceName, configEntries } of described?.resources ?? []) {
    const bytes = Number(configEntries.find(({ configName }) => configName === LIMIT)?.configValue ?? LARGEST_MESSAGE);
    noteLimit(resourceName.slice(prefix.length), bytes);
    if (bytes >= LARGEST_MESSAGE) continue;
    log.warn(
      { topic: resourceName, [LIMIT]: bytes, wanted: LARGEST_MESSAGE },
      'a topic accepts smaller messages than imported records may need: raise its max.message.bytes, then restart',
    );
  }
}

function configOf(topic: Topic, replicas: number): ITopicConfig {
  const keep = retentionOf(topic.keeps);
  const entries = { ...keep, [LIMIT]: LARGEST_MESSAGE, 'min.insync.replicas': replicas > 2 ? 2 : 1 };
  return {
    topic: topic.name,
    numPartitions: topic.partitions,
    replicationFactor: replicas,
    configEntries: Object.entries(entries).map(([name, value]) => ({ name, value: String(value) })),
  };
}

function retentionOf(keeps: Topic['keeps']): Record<string, number | string> {
  if (keeps === 'all') return { 'cleanup.policy': 'delete', 'retention.ms': -1, 'retention.bytes': -1 };
  if (keeps !== 'latest') return { 'cleanup.policy': 'delete', 'retention.ms': keeps.days * DAY_MS };
  return { 'cleanup.policy': 'compact', 'delete.retention.ms': TOMBSTONE_DAYS * DAY_MS, 'max.compaction.lag.ms': LONGEST_REPLACED_MS };
}
