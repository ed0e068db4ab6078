import type { Admin } from 'kafkajs';
import type { KafkaClient } from './kafka.ts';
import { goodbye } from './limit.ts';

/** Connects to Kafka for questions and orders about topics and groups, and takes its leave in any case. */
export async function withAdmin<T>(kafka: KafkaClient, work: (admin: Admin) => Promise<T>): Promise<T> {
  const admin = kafka.admin();
  try {
    await admin.connect();
    return await work(admin);
  } finally {
    await goodbye(admin);
  }
}
