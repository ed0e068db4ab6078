import type { BackgroundPart } from '@truckroll/process';
import type { Admin } from 'kafkajs';
import type { KafkaClient } from './kafka.ts';
import { disconnectQuietly } from './disconnect-quietly.ts';

/** Connects an admin client of Kafka for `work`, and disconnects it whatever comes of it. Rejects if it cannot connect, or as `work` does. */
export async function withAdmin<T>(kafka: KafkaClient, work: (admin: Admin) => Promise<T>): Promise<T> {
  const admin = await connected(kafka);
  try {
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
  #stopped = false;

  readonly use: UseAdmin = async (kafka, work) => {
    // A call that outlasts the service.
    if (this.#stopped) return await withAdmin(kafka, work);
    clearTimeout(this.#idle);
    const admin = (this.#admin ??= connected(kafka));
    try {
      return await work(await admin);
    } catch (error) {
      // The next work connects again. Another one may have done so already.
      if (this.#admin === admin) void this.#disconnect();
      throw error;
    } finally {
      clearTimeout(this.#idle);
      this.#idle = setTimeout(() => void this.#disconnect(), IDLE_MS).unref();
    }
  };

  start(): Promise<void> {
    return Promise.resolve();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#disconnect();
  }

  async #disconnect(): Promise<void> {
    clearTimeout(this.#idle);
    const admin = this.#admin;
    this.#admin = undefined;
    await disconnectQuietly(await admin?.catch(() => undefined));
  }
}

async function connected(kafka: KafkaClient): Promise<Admin> {
  const admin = kafka.admin();
  try {
    await admin.connect();
    return admin;
  } catch (error) {
    await disconnectQuietly(admin);
    throw error;
  }
}
