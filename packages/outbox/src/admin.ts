import type { Admin } from 'kafkajs';
import type { KafkaClient } from './kafka.ts';
import { disconnectQuietly } from './disconnect-quietly.ts';

export async function withAdmin<T>(kafka: KafkaClient, work: (admin: Admin) => Promise<T>): Promise<T> {
  const admin = kafka.admin();
  try {
    await admin.connect();
    return await work(admin);
  } finally {
    await disconnectQuietly(admin);
  }
}
