import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newCallCredential } from '@truckroll/grpc';
import { truckroll } from './system.ts';

const OTHER_USER = 65_534;
let folder: string;
let state: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'truckroll-state-'));
  state = join(folder, '.truckroll');
  mkdirSync(state, { mode: 0o700 });
});
afterEach(() => rmSync(folder, { recursive: true }));

function plant(port: number): void {
  writeFileSync(join(state, 'services.json'), JSON.stringify({ integrations: `127.0.0.1:${port}` }));
  writeFileSync(join(state, 'secrets.json'), JSON.stringify({ callCredentials: { operator: newCallCredential('operator').text } }));
}

/** A server that counts connections, in place of one that steals credentials. */
async function trap() {
  let calls = 0;
  const server = createServer((socket) => {
    calls += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  return { port: (server.address() as AddressInfo).port, calls: () => calls, close: () => server.close() };
}

test.each([
  ['everybody', 0o777],
  ['its group', 0o770],
  ['all but its group', 0o702],
])('does not trust a folder into which %s may write, because it names where keys are sent', async (_, mode) => {
  const waiting = await trap();
  plant(waiting.port);
  chmodSync(state, mode);
  const outcome = await truckroll(['company', 'list'], {}, folder);
  expect(outcome).toMatchObject({ code: 2, stderr: expect.stringContaining(`Others may write into ${state}`) });
  expect(waiting.calls()).toBe(0);
  waiting.close();
});

// Only root can change the owner of a folder.
(process.getuid?.() === 0 ? test : test.skip)('does not trust a folder of another user', async () => {
  const waiting = await trap();
  plant(waiting.port);
  chownSync(state, OTHER_USER, OTHER_USER);
  const outcome = await truckroll(['company', 'list'], {}, folder);
  expect(outcome).toMatchObject({ code: 2, stderr: expect.stringContaining(`${state} belongs to another user (${OTHER_USER})`) });
  expect(waiting.calls()).toBe(0);
  waiting.close();
});

test('sends the credential of the local installation nowhere else', async () => {
  const waiting = await trap();
  plant(1);
  const outcome = await truckroll(['company', 'list'], { INTEGRATIONS_ADDRESS: `127.0.0.1:${waiting.port}` }, folder);
  expect(outcome).toMatchObject({ code: 3, stderr: expect.stringContaining('No credential is known by which integrations would know you') });
  expect(waiting.calls()).toBe(0);
  waiting.close();
});
