import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { identify } from '../src/processes/identity.ts';
import { lockState } from '../src/state-lock.ts';
import { Scratch } from './support.ts';

const scratch = new Scratch();
afterAll(() => scratch.end());

test('a second start reports the first one and its address', () => {
  const state = scratch.folder();
  const lock = lockState(state, 'npm start');
  writeFileSync(join(state, 'ready.json'), JSON.stringify({ baseUrl: 'http://127.0.0.1:8080' }));
  expect(() => lockState(state, 'npm start')).toThrow(
    `Truckroll already runs in this checkout, as process ${process.pid} (npm start) at http://127.0.0.1:8080: use that one, or stop it with Ctrl-C there or kill ${process.pid}.`,
  );
  lock.release();
  lockState(state, 'npm start').release();
});

test('the lock of a killed process is taken over', async () => {
  const state = scratch.folder();
  const owner = scratch.program('lock-owner.ts', state);
  await owner.next();
  expect(() => lockState(state, 'npm start')).toThrow(`as process ${owner.child.pid}`);
  const exited = new Promise((resolve) => owner.child.once('exit', resolve));
  owner.child.kill('SIGKILL');
  await exited;
  lockState(state, 'npm start').release();
});

test('the lock of an earlier process whose pid is in use again is taken over', () => {
  const state = scratch.folder();
  writeFileSync(join(state, 'lock.json'), JSON.stringify({ pid: process.pid, started: 'before the machine went down', command: 'npm start' }));
  const lock = lockState(state, 'npm start');
  expect(identify(process.pid)?.started).not.toBe('before the machine went down');
  lock.release();
  expect(existsSync(join(state, 'lock.json'))).toBe(false);
});
