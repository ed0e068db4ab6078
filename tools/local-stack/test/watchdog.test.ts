import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '@truckroll/testing/until';
import { Daemon } from '../src/processes/daemon.ts';
import { identify, isRunning } from '../src/processes/identity.ts';
import { endLeftovers } from '../src/processes/watchdog.ts';
import { Scratch } from './support.ts';

const scratch = new Scratch();
afterAll(() => scratch.end());

test('when the parent is killed its processes stop, the gateway first and the servers last', async () => {
  const folder = scratch.folder();
  const parent = scratch.program('family.ts', folder);
  const pids = Object.values(JSON.parse(await parent.next()) as Record<string, number>);
  const identities = pids.map((pid) => identify(pid)!);
  expect(existsSync(join(folder, 'run'))).toBe(true);

  parent.child.kill('SIGKILL');
  await until('the ends of the processes', () => identities.every((identity) => !isRunning(identity)));
  expect(readFileSync(join(folder, 'ends'), 'utf8')).toBe('gateway\nservice\nserver\n');
  await until('the deletion of the folder', () => !existsSync(join(folder, 'run')));
});

test('processes left running when parent and watchdog were killed together are stopped by the next start', async () => {
  const folder = scratch.folder();
  const record = join(folder, 'processes.json');
  const parent = scratch.program('family.ts', folder, record);
  const pids = Object.values(JSON.parse(await parent.next()) as Record<string, number>);
  const identities = pids.map((pid) => identify(pid)!);
  const watchdog = Number(await parent.next());
  // Suspended first, so that it cannot see the pipe close before it is killed.
  process.kill(watchdog, 'SIGSTOP');
  parent.child.kill('SIGKILL');
  process.kill(watchdog, 'SIGKILL');
  await new Promise((resolve) => parent.child.once('exit', resolve));
  expect(identities.every((identity) => isRunning(identity))).toBe(true);

  await endLeftovers(record);
  expect(identities.some((identity) => isRunning(identity))).toBe(false);
  expect(readFileSync(join(folder, 'ends'), 'utf8')).toBe('gateway\nservice\nserver\n');
});

test('a process that ignores the signal is killed after its grace period', async () => {
  const watchdog = scratch.watchdog();
  const daemon = new Daemon({
    name: 'deaf',
    command: process.execPath,
    args: ['-e', `process.on('SIGTERM', () => 0); setInterval(() => 0, 1000); console.log('up')`],
    log: join(scratch.folder(), 'deaf.log'),
    order: 'service',
    stopSignal: 'SIGTERM',
    graceMs: 50,
    watchdog,
  });
  await daemon.printed(/up/);
  await watchdog.stopAll();
  expect(await daemon.exited).toEqual({ code: null, signal: 'SIGKILL' });
});

test('a killed watchdog is replaced by one with the same information', async () => {
  const watchdog = scratch.watchdog();
  const folder = scratch.folder();
  mkdirSync(join(folder, 'run'));
  watchdog.deleteAtEnd(join(folder, 'run'));
  const daemon = new Daemon({
    name: 'server',
    command: 'sleep',
    args: ['1000'],
    log: join(folder, 'log'),
    order: 'server',
    stopSignal: 'SIGTERM',
    graceMs: 5000,
    watchdog,
  });
  const before = watchdog.pid!;
  process.kill(before, 'SIGKILL');
  await until('another watchdog', () => watchdog.pid !== before);
  await watchdog.stopAll();
  expect(await daemon.exited).toEqual({ code: null, signal: 'SIGTERM' });
  expect(existsSync(join(folder, 'run'))).toBe(false);
});

test('reports a missing command without waiting for it', async () => {
  const daemon = new Daemon({
    name: 'nothing',
    command: join(scratch.folder(), 'nothing'),
    args: [],
    log: join(scratch.folder(), 'log'),
    order: 'server',
    stopSignal: 'SIGTERM',
    graceMs: 1000,
    watchdog: scratch.watchdog(),
  });
  expect(await daemon.printed(/ready/)).toBe(false);
  await expect(daemon.exited).rejects.toThrow('ENOENT');
});
