import { chmodSync, chownSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { callers } from '@truckroll/contract';
import { parseCallCredential, parseCallerCredentials } from '@truckroll/grpc';
import { ownFolder } from '../src/own-folder.ts';
import { acceptedCallers, readSecrets } from '../src/secrets.ts';
import { Scratch } from './support.ts';

const scratch = new Scratch();
afterAll(() => scratch.end());

test('every component has a credential that the services accept, and only the owner can read the file', () => {
  const state = scratch.folder();
  const secrets = readSecrets(state);
  expect(Object.keys(secrets.callCredentials).sort()).toEqual([...callers].sort());
  expect(Object.entries(secrets.callCredentials).map(([name, text]) => parseCallCredential(text)?.caller === name)).not.toContain(false);
  expect([...parseCallerCredentials(acceptedCallers(secrets))!.keys()].sort()).toEqual([...callers].sort());
  expect(statSync(join(state, 'secrets.json')).mode & 0o777).toBe(0o600);
  expect(readSecrets(state)).toEqual(secrets);
});

test('an earlier release’s folder keeps its secrets and gets the missing ones', () => {
  const state = scratch.folder();
  const file = join(state, 'secrets.json');
  const old = { databasePassword: 'abc', cursorKeys: 'k1:x', webhookSecretKeys: 'k1:y' };
  writeFileSync(file, JSON.stringify(old));
  chmodSync(file, 0o600);
  const first = readSecrets(state);
  expect(first).toMatchObject(old);
  expect(first.identityKeys).toMatch(/^k1:/);
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(first);
  const kept = { ...first, callCredentials: { operator: first.callCredentials.operator } };
  writeFileSync(file, JSON.stringify(kept));
  expect(readSecrets(state).callCredentials.operator).toBe(first.callCredentials.operator);
});

test('only its owner can enter a state folder, including one from an earlier release', () => {
  const made = join(scratch.folder(), 'a', '.truckroll');
  ownFolder(made);
  expect(statSync(made).mode & 0o777).toBe(0o700);
  const old = scratch.folder();
  chmodSync(old, 0o755);
  ownFolder(old);
  expect(statSync(old).mode & 0o777).toBe(0o700);
});

// Only root can change a folder's owner.
(process.getuid?.() === 0 ? test : test.skip)('refuses a state folder of another user', () => {
  const folder = scratch.folder();
  chownSync(folder, 65_534, 65_534);
  expect(() => ownFolder(folder)).toThrow(/belongs to another user \(65534\)/);
});
