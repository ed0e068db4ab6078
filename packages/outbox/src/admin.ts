import type { Admin } from 'kafkajs';
import type { KafkaClient } from './kafka.ts';
import { goodbye } from './goodbye.ts';

export async function withAdmin<T>(kafka: KafkaClient, work: (admin: Admin) => Promise<T>): Promise<T> {
  const admin = kafka.admin();
  try {
    await admin.connect();
    return await work(admin);
  } finally {
    await goodbye(admin);
  }
}
