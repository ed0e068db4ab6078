import type { TopicDefinition } from '@truckroll/contract';
import { until } from '@truckroll/testing/until';
import { replay, type IncomingEvent, type KafkaClient } from '../../../packages/outbox/src/index.ts';
import { HANG } from '../wait.ts';

export interface TopicContent {
  readonly events: IncomingEvent[];
  readonly unreadable: number;
}

/** Everything in a topic. Retries failures, because Kafka may just have been restarted. */
export async function readTopic(kafka: KafkaClient, topic: TopicDefinition): Promise<TopicContent> {
  let content: TopicContent | undefined;
  let reason: unknown;
  const attempt = async (): Promise<boolean> => {
    content = await read(kafka, topic).catch((error: unknown) => void (reason = error));
    return content !== undefined;
  };
  await until(`the content of ${topic.name}`, attempt, Boolean, HANG).catch((error: unknown) => {
    throw reason ?? error;
  });
  return content!;
}

async function read(kafka: KafkaClient, topic: TopicDefinition): Promise<TopicContent> {
  const events: IncomingEvent[] = [];
  await replay({ kafka, topic, apply: async (batch) => void events.push(...batch) });
  const admin = kafka.admin();
  await admin.connect();
  try {
    const offsets = await admin.fetchTopicOffsets(kafka.prefix + topic.name);
    const messages = offsets.reduce((sum, { low, high }) => sum + Number(BigInt(high) - BigInt(low)), 0);
    // No message is old enough to have been compacted, so each offset is a message.
    return { events, unreadable: messages - events.length };
  } finally {
    await admin.disconnect();
  }
}
