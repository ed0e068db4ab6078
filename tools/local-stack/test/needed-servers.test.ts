import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { serversFile, shareServers, sharedServers } from '../src/environment.ts';
import { writeJson } from '../src/files.ts';
import { neededServers } from '../src/needed-servers.ts';
import { identify } from '../src/processes/identity.ts';
import { Scratch } from './support.ts';

const scratch = new Scratch();
afterAll(() => scratch.end());

const environment = { DATABASE_URL: 'postgres://d', REDIS_URL: 'redis://r', KAFKA_BROKERS: 'k:1' };

describe('the servers that test files need', () => {
  let folder: string;
  beforeAll(() => {
    folder = scratch.folder();
    mkdirSync(join(folder, 'support'));
    writeFileSync(join(folder, 'support/database.ts'), `const name = 'DATABASE_URL';\nexport const url = process.env[name];`);
    writeFileSync(join(folder, 'pure.test.ts'), `import { join } from 'node:path';\nimport { lodash } from 'lodash';\nexport const x = join('a', lodash);`);
    writeFileSync(join(folder, 'database.test.ts'), `import { url } from './support/database.ts';\nexport const x = url;`);
    writeFileSync(join(folder, 'both.test.ts'), `export * from './database.test.ts';\nexport const y = process.env['KAFKA_BROKERS'];`);
  });

  test.each([
    [['pure.test.ts'], []],
    [['database.test.ts'], ['postgres']],
    [
      ['pure.test.ts', 'both.test.ts'],
      ['postgres', 'kafka'],
    ],
  ])('for %p are %p', async (files, servers) => {
    expect(
      await neededServers(
        folder,
        files.map((file) => join(folder, file)),
      ),
    ).toEqual(new Set(servers));
  });
});

test('servers that a process shares are used while it runs', () => {
  const state = scratch.folder();
  expect(sharedServers(state)).toEqual({});
  shareServers(state, environment);
  expect(sharedServers(state)).toEqual(environment);
});

test('servers of a process that has ended are not used', () => {
  const state = scratch.folder();
  writeJson(serversFile(state), { ...environment, ...identify(process.pid), started: 'before' });
  expect(sharedServers(state)).toEqual({});
});
