import type { BackgroundPart } from '@truckroll/process';
import type { Admin } from 'kafkajs';
import type { KafkaClient } from './kafka.ts';
import { disconnectQuietly } from './disconnect-quietly.ts';

/** Connects an admin client of Kafka for `work`, and disconnects it whatever comes of it. Rejects if it cannot connect, or as `work` does. */
export async function withAdmin<T>(kafka: KafkaClient, work: (admin: Admin) => Promise<T>): Promise<T> {
  const admin = kafka.admin();
  try {
    await admin.connect();
    return await work(admin);
  } finally {
    await disconnectQuietly(admin);
  }
}

/** Runs work with an admin: a new one, as `withAdmin` does, or one that stays connected. */
export type UseAdmin = typeof withAdmin;

/** Time in ms without work after which it disconnects. */
const IDLE_MS = 60_000;

/** Keeps one admin connected while there is work for it. Connecting and looking up topics takes longer than most calls. */
export class KeptAdmin implements BackgroundPart {
  readonly name = 'Kafka admin';
  #admin: Promise<Admin> | undefined;
  #idle: NodeJS.Timeout | undefined;

  readonly use: UseAdmin = async (kafka, work) => {
    clearTimeout(this.#idle);
    try {
      return await work(await (this.#admin ??= connected(kafka)));
    } catch (error) {
      // The next work connects again.
      void this.stop();
      throw error;
    } finally {
      clearTimeout(this.#idle);
      this.#idle = setTimeout(() => void this.stop(), IDLE_MS).unref();
    }
  };

  start(): Promise<void> {
    return Promise.resolve();
  }

  async stop(): Promise<void> {
    clearTimeout(this.#idle);
    const admin = this.#admin;
    this.#admin = undefined;
    await disconnectQuietly(await admin?.catch(() => undefined));
  }
}

async function connected(kafka: KafkaClient): Promise<Admin> {
  const admin = kafka.admin();
  await admin.connect();
  return admin;
}
