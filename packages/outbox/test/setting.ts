import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { Database } from '@truckroll/postgres';
import { createMetrics, silentLog, type Metrics } from '@truckroll/telemetry';
import { freshDatabase, type TestDatabase } from '@truckroll/testing';
import { until } from '@truckroll/testing/until';
import { Kafka, logLevel } from 'kafkajs';
import type { IncomingEvent, OutboxRow, OutgoingEvent } from '../src/event.ts';
import { createKafka, ensureTopics, outboxTables, type KafkaClient, type Topic } from '../src/index.ts';

export const SCHEMA = 'trial';
export const COMPANY = randomUUID();

export async function openSetting() {
  const applied = `create table applied (position int generated always as identity, key text, payload text, version bigint, unique (key, version));
    create table places (topic text, partition int, next bigint, primary key (topic, partition))`;
  const server: TestDatabase = await freshDatabase({
    [SCHEMA]: [outboxTables, { name: 'trial', migrations: [{ name: '0001_applied', sql: applied }] }],
  });
  const database = new Database({ url: server.url, schema: SCHEMA, connectTimeoutMs: 20_000 });
  return {
    database,
    server,
    async close() {
      await database.close();
      await server.drop();
    },
  };
}

export const brokers = (process.env['KAFKA_BROKERS'] ?? '').split(',');
export const kafka: KafkaClient = createKafka('test', { kafkaBrokers: brokers }, silentLog);

/** A Kafka client with a switch that takes the brokers down: connections end and new ones are refused. */
export function interruptibleKafka() {
  let up = true;
  const sockets = new Set<ReturnType<typeof connect>>();
  const inner = new Kafka({
    clientId: 'test',
    brokers,
    logLevel: logLevel.NOTHING,
    retry: { retries: 1, initialRetryTime: 20, maxRetryTime: 50 },
    socketFactory: ({ host, port, onConnect }) => {
      // Port 1 refuses connections, as a broker does that is down.
      const socket = connect({ host, port: up ? port : 1 }, onConnect);
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket));
      return socket;
    },
  });
  const client: KafkaClient = Object.assign(inner, { prefix: '' });
  return {
    client,
    down() {
      up = false;
      for (const socket of sockets) socket.destroy(Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }));
    },
    up() {
      up = true;
    },
  };
}

/** A Kafka client with a switch that loses responses: the brokers still execute the requests. */
export function deafKafka() {
  let deaf = false;
  const inner = new Kafka({
    clientId: 'test',
    brokers,
    logLevel: logLevel.NOTHING,
    requestTimeout: 200,
    socketFactory: ({ host, port, onConnect }) => {
      const socket = connect({ host, port }, onConnect);
      const on = socket.on.bind(socket) as (event: string, listener: (...args: unknown[]) => void) => typeof socket;
      socket.on = ((event: string, listener: (...args: unknown[]) => void) =>
        on(
          event,
          event === 'data'
            ? (...args) => {
                if (!deaf) listener(...args);
              }
            : listener,
        )) as typeof socket.on;
      return socket;
    },
  });
  const client: KafkaClient = Object.assign(inner, { prefix: '' });
  return {
    client,
    deafen: (value: boolean) => {
      deaf = value;
    },
  };
}

let topics = 0;
export function newTopic(keeps: Topic['keeps'] = { days: 1 }, partitions = 3): Topic {
  return { name: `test.${process.pid}.${Date.now()}.${(topics += 1)}`, partitions, keeps };
}

export async function createTopic(keeps: Topic['keeps'] = { days: 1 }, partitions = 1): Promise<Topic> {
  const topic = newTopic(keeps, partitions);
  await ensureTopics(kafka, [topic], silentLog, new AbortController().signal);
  return topic;
}

/** Headers of a message that is an event; each also needs its own `ce_id`. */
export const HEADERS = { ce_type: 't', ce_source: '/trial', ce_companyid: 'c', ce_time: '2026-03-01T00:00:00Z', ce_version: '1' };

export function event(topic: Topic, key: string, text: string | null, more: Partial<OutgoingEvent> = {}): OutgoingEvent {
  return { topic: topic.name, key, type: 'thing.changed', companyId: COMPANY, payload: text === null ? null : Buffer.from(text), ...more };
}

export const textOf = (item: IncomingEvent | OutboxRow): string | undefined => item.payload?.toString();

export class Collected<T> {
  readonly items: T[] = [];
  readonly #waiting: { condition: (items: readonly T[]) => boolean; resolve: () => void }[] = [];

  add(...items: readonly T[]): void {
    this.items.push(...items);
    for (const { condition, resolve } of this.#waiting) if (condition(this.items)) resolve();
  }

  until(condition: (items: readonly T[]) => boolean): Promise<void> {
    return new Promise((resolve) => {
      if (condition(this.items)) resolve();
      else this.#waiting.push({ condition, resolve });
    });
  }

  count(count: number): Promise<void> {
    return this.until((items) => items.length >= count);
  }
}

export async function metric(metrics: Metrics, name: string): Promise<number | undefined> {
  const line = (await metrics.render()).body.split('\n').find((text) => text.startsWith(`${name}{`) || text.startsWith(`${name} `));
  return line === undefined ? undefined : Number(line.split(' ').at(-1));
}

/** Ends the session that holds the relay's lock, as the death of its process would. Waits until a relay holds the lock. */
export async function killLockHolder(database: Database): Promise<void> {
  const kill = () =>
    database.query({
      text: `select pg_terminate_backend(pid) from pg_locks
        where locktype = 'advisory' and granted and database = (select oid from pg_database where datname = current_database())`,
    });
  await until('a holder of the lock', kill, ({ rowCount }) => rowCount > 0);
}

export const rowsLeft = async (database: Database): Promise<number> =>
  (await database.query<{ count: number }>({ text: 'select count(*) from outbox' })).rows[0]!.count;

export { createMetrics, silentLog };
