import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '@truckroll/testing/until';
import { choosePort } from '../src/ports.ts';
import { isReady } from '../src/start/readiness.ts';
import { Supervised } from '../src/start/supervised.ts';
import { Scratch, occupant } from './support.ts';

const scratch = new Scratch();
afterAll(() => scratch.end());

const SERVES = `
  import { createServer } from 'node:http';
  createServer((request, response) => response.end('ready')).listen(process.env.METRICS_PORT, '127.0.0.1');
`;

async function supervise(code: string, port?: number) {
  const folder = scratch.folder();
  const script = join(folder, 'main.mjs');
  writeFileSync(script, code);
  const METRICS_PORT = String(port ?? (await choosePort()));
  const readyUrl = `http://127.0.0.1:${METRICS_PORT}/readyz`;
  const environment = { METRICS_PORT };
  const said: string[] = [];
  const watchdog = scratch.watchdog();
  const supervised = new Supervised({
    plan: { name: 'billing', script, order: 'service', readyUrl, environment },
    logs: folder,
    watchdog,
    environment: process.env,
    say: (line) => void said.push(line),
  });
  return { supervised, said, readyUrl, watchdog, folder, environment };
}

test('a process that dies is restarted, and this is reported', async () => {
  const { supervised, said, readyUrl } = await supervise(SERVES);
  await supervised.ready;
  const first = supervised.pid!;
  process.kill(first, 'SIGKILL');
  await until('billing to be ready again', () => said.some((line) => line.startsWith('billing is ready again')));
  expect(supervised.pid).not.toBe(first);
  expect(await isReady(readyUrl)).toBe(true);
  expect(said.find((line) => line.includes('has ended'))).toMatch(
    /^billing has ended \(SIGKILL\) and is started again in 0.25 s: .*billing\.log may say why\.$/,
  );
  supervised.release();
});

test('a process with changed settings is restarted with them, without counting a failure', async () => {
  const { supervised, said, readyUrl, environment } = await supervise(SERVES.replace("end('ready')", 'end(process.env.KAFKA_BROKERS)'));
  await supervised.change({ environment: { ...environment, KAFKA_BROKERS: '127.0.0.1:9093' } });
  expect(await (await fetch(readyUrl)).text()).toBe('127.0.0.1:9093');
  expect(said.filter((line) => line.includes('has ended'))).toEqual([]);
  supervised.release();
});

test('a process whose script changes while it waits to be restarted is started at once, and its failures no longer count', async () => {
  const { supervised, said, folder } = await supervise(SERVES);
  const script = (name: string, code: string): string => {
    writeFileSync(join(folder, name), code);
    return join(folder, name);
  };
  const failing = supervised.change({ script: script('failing.mjs', 'process.exit(3)') });
  await until('a restart after exit code 3', () => said.some((line) => line.includes('(exit code 3) and is started again in 1 s')));
  await supervised.change({ script: script('fixed.mjs', SERVES) });
  await failing;
  process.kill(supervised.pid!, 'SIGKILL');
  await until('a restart after SIGKILL', () => said.some((line) => line.includes('(SIGKILL) and is started again in 0.25 s')));
  supervised.release();
});

test('a process that is being stopped is not restarted', async () => {
  const { supervised, said, readyUrl, watchdog } = await supervise(SERVES);
  await supervised.ready;
  supervised.release();
  await watchdog.stopAll();
  expect(await isReady(readyUrl)).toBe(false);
  expect(said.filter((line) => line.includes('has ended'))).toEqual([]);
});

test('a process that can never start is given up, with its own error message', async () => {
  const { supervised, said } = await supervise(`console.error('billing cannot start:\\nDATABASE_URL is missing'); process.exit(1)`);
  await expect(supervised.ready).rejects.toThrow(
    /^billing cannot start \(exit code 1\): .*billing\.log has the details\.\nbilling cannot start:\nDATABASE_URL is missing$/,
  );
  expect(said.filter((line) => line.includes('started again'))).toHaveLength(2);
  expect(readFileSync(supervised.log, 'utf8').match(/DATABASE_URL is missing/g)).toHaveLength(3);
});

test('reports a port in use in one sentence', async () => {
  const { port, server } = await occupant();
  const { supervised } = await supervise(SERVES, port);
  await expect(supervised.ready).rejects.toThrow(`billing cannot listen on port ${port}, which is in use: stop what uses it and start again.`);
  server.close();
});
