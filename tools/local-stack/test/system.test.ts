import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '@truckroll/testing/until';
import { choosePort } from '../src/ports.ts';
import { runSystem } from '../src/start/system.ts';
import { Scratch } from './support.ts';

const scratch = new Scratch();
afterAll(() => scratch.end());

/** A program that warns about Kafka and about something else before it serves, and answers with Kafka's address. */
const SERVES = `
  import { createServer } from 'node:http';
  for (const msg of ['waiting for Kafka to create topics', 'a certificate ends soon']) console.log(JSON.stringify({ level: 'warn', msg }));
  createServer((request, response) => response.end(process.env.KAFKA_BROKERS)).listen(process.env.METRICS_PORT, '127.0.0.1');
`;

async function run(extra: Record<string, string>) {
  const state = scratch.folder();
  const script = join(state, 'main.mjs');
  writeFileSync(script, SERVES);
  const METRICS_PORT = String(await choosePort());
  const url = `http://127.0.0.1:${METRICS_PORT}`;
  const said: string[] = [];
  const plan = { name: 'billing', script, order: 'service', metricsUrl: url, readyUrl: url, environment: { METRICS_PORT, ...extra } } as const;
  const stopping = new AbortController();
  const system = runSystem({
    processes: [plan],
    state,
    watchdog: scratch.watchdog(),
    say: (line) => void said.push(line),
    environment: process.env,
    signal: stopping.signal,
  });
  await system.ready;
  const log = join(state, 'logs/billing.log');
  await until('the end in the log', () => readFileSync(log, 'utf8').includes('ends soon'));
  const brokers = async () => (await fetch(url)).text();
  const warnings = () => said.filter((line) => line.startsWith('billing warn'));
  return { system, brokers, warnings, stop: () => stopping.abort() };
}

test('shows warnings from Kafka’s start-up once Kafka is up, except those about Kafka', async () => {
  const { system, warnings, stop } = await run({ KAFKA_BROKERS: '127.0.0.1:9092' });
  expect(warnings()).toEqual([]);
  await system.kafkaIsAt('127.0.0.1:9092');
  expect(warnings()).toEqual(['billing warn: a certificate ends soon']);
  stop();
});

test('restarts processes with Kafka’s new address when Kafka had to take another port', async () => {
  const { system, brokers, stop } = await run({ KAFKA_BROKERS: '127.0.0.1:9092' });
  await system.kafkaIsAt('127.0.0.1:9093');
  expect(await brokers()).toBe('127.0.0.1:9093');
  stop();
});
