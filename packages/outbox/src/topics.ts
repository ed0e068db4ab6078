import type { TopicDefinition } from '@truckroll/contract';
import { logOutage, retrying, type Logger } from '@truckroll/service-kit';
import type { ITopicConfig } from 'kafkajs';
import type { KafkaClient } from './kafka.ts';
import { goodbye } from './limit.ts';

export type Topic = TopicDefinition;

const DAY_MS = 86_400_000;
/** How long a deletion stays readable on a compacted topic: the longest that a consumer may be away. */
const TOMBSTONE_DAYS = 14;

/**
 * Creates the topics that are missing, with three replicas where there are three brokers; never changes one that
 * exists, whose settings belong to its operator. Safe to race. Retries until aborted.
 */
export async function ensureTopics(kafka: KafkaClient, topics: readonly Topic[], log: Logger, signal: AbortSignal): Promise<void> {
  await retrying(() => createMissing(kafka, topics, log), (error, failures) => {
    logOutage(log, 'waiting for Kafka to create topics', failures, error);
    return true;
  }, signal);
}

async function createMissing(kafka: KafkaClient, topics: readonly Topic[], log: Logger): Promise<void> {
  const admin = kafka.admin();
  try {
    await admin.connect();
    const existing = new Set(await admin.listTopics());
    const missing = topics.map((topic) => ({ ...topic, name: kafka.prefix + topic.name })).filter((topic) => !existing.has(topic.name));
    if (missing.length === 0) return;
    const replicas = Math.min(3, (await admin.describeCluster()).brokers.length);
    await admin.createTopics({ topics: missing.map((topic) => configOf(topic, replicas)), waitForLeaders: true });
    log.info({ topics: missing.map((topic) => topic.name) }, 'created topics');
  } finally {
    await goodbye(admin);
  }
}

function configOf(topic: Topic, replicas: number): ITopicConfig {
  const keep: Record<string, number | string> =
    topic.keeps === 'latest'
      ? { 'cleanup.policy': 'compact', 'delete.retention.ms': TOMBSTONE_DAYS * DAY_MS }
      : { 'cleanup.policy': 'delete', 'retention.ms': topic.keeps.days * DAY_MS };
  const entries = { ...keep, 'min.insync.replicas': replicas > 2 ? 2 : 1 };
  return {
    topic: topic.name,
    numPartitions: topic.partitions,
    replicationFactor: replicas,
    configEntries: Object.entries(entries).map(([name, value]) => ({ name, value: String(value) })),
  };
}
