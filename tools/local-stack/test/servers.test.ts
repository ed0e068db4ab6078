import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { requireSpace } from '../src/files.ts';
import { fullDisk } from '../src/problem.ts';
import { Ports } from '../src/ports.ts';
import { beginServers, startServers } from '../src/servers/index.ts';
import { readSecrets } from '../src/secrets.ts';
import { silent } from '../src/say.ts';
import { tokenIssuer } from '../src/token-issuer.ts';
import { Scratch, occupant } from './support.ts';

const scratch = new Scratch();
afterAll(() => scratch.end());

const given = { DATABASE_URL: process.env['DATABASE_URL'], REDIS_URL: process.env['REDIS_URL'], KAFKA_BROKERS: process.env['KAFKA_BROKERS'] };

function start(environment: Record<string, string | undefined>) {
  return startServers({ folder: scratch.folder(), watchdog: scratch.watchdog(), say: silent, password: 'secret', careless: true, environment });
}

test('uses servers that the environment names, and starts none', async () => {
  const servers = await start(given);
  expect(servers.running.size).toBe(0);
  expect(servers).toMatchObject({ databaseUrl: given.DATABASE_URL, redisUrl: given.REDIS_URL, kafkaBrokers: given.KAFKA_BROKERS });
});

test('starts only the servers that the environment does not name', async () => {
  const servers = await start({ ...given, REDIS_URL: '' });
  expect([...servers.running.keys()]).toEqual(['redis']);
});

test('a server can be used while another one is missing, and the missing one is reported', async () => {
  const former = process.env['JAVA_HOME'];
  const home = scratch.folder();
  mkdirSync(join(home, 'bin'));
  writeFileSync(join(home, 'bin/java'), `#!/bin/sh\necho 'openjdk version "11.0.22"' >&2\n`, { mode: 0o755 });
  process.env['JAVA_HOME'] = home;
  try {
    const options = { folder: scratch.folder(), watchdog: scratch.watchdog(), say: silent, password: 'secret', careless: true };
    const servers = await beginServers({ ...options, environment: { ...given, REDIS_URL: '', KAFKA_BROKERS: '' } });
    await expect(servers.all).rejects.toThrow(/^Java 11 is too old for Kafka/);
    expect(await servers.address('redis')).toMatch(/^redis:/);
  } finally {
    if (former === undefined) delete process.env['JAVA_HOME'];
    else process.env['JAVA_HOME'] = former;
  }
});

test.each([
  ['DATABASE_URL', (port: number) => `postgres://user:password@127.0.0.1:${port}/truckroll`],
  ['REDIS_URL', (port: number) => `redis://127.0.0.1:${port}`],
  ['KAFKA_BROKERS', (port: number) => `127.0.0.1:${port}`],
])('reports an unreachable %s server in one sentence without its password', async (name, address) => {
  const { port, server } = await occupant();
  await new Promise((resolve) => server.close(resolve));
  await expect(start({ ...given, [name]: address(port) })).rejects.toThrow(
    `Nothing answers at 127.0.0.1:${port}, which ${name} names: start that server, or leave ${name} out to have one started here.`,
  );
});

test.each(['kafka', 'PLAINTEXT://kafka:9092', 'kafka:9092,,b:9092', 'kafka:99999'])('refuses KAFKA_BROKERS=%s with the right form', async (KAFKA_BROKERS) => {
  await expect(start({ ...given, KAFKA_BROKERS })).rejects.toThrow('KAFKA_BROKERS is not an address: set it to host:port,host:port, or leave it out.');
});

test.each([
  ['DATABASE_URL', 'mysql://db:3306/truckroll', 'begins with mysql:// instead of postgres://: set it to postgres://user:password@host:port/database'],
  ['DATABASE_URL', 'db:5432', 'is not an address: set it to postgres://user:password@host:port/database'],
  ['REDIS_URL', 'http://user:secret@redis:6379', 'begins with http:// instead of redis://: set it to redis://host:port'],
  ['REDIS_URL', 'redis:6379', 'is not an address: set it to redis://host:port'],
])('names the scheme that %s needs: %s', async (name, address, fault) => {
  await expect(start({ ...given, [name]: address })).rejects.toThrow(`${name} ${fault}, or leave it out.`);
});

test('names every faulty server at once', async () => {
  await expect(start({ DATABASE_URL: 'mysql://db', REDIS_URL: 'http://redis', KAFKA_BROKERS: 'kafka' })).rejects.toThrow(
    /^KAFKA_BROKERS is not.*\nDATABASE_URL begins.*\nREDIS_URL begins.*$/,
  );
});

test.each([
  ['redis+cluster://user:secret@127.0.0.1:1,', ''],
  ['rediss+sentinel://127.0.0.1:1,', '/main'],
])('accepts several servers when one of them answers: %s', async (first, last) => {
  const { port, server } = await occupant();
  const REDIS_URL = `${first}127.0.0.1:${port}${last}`;
  await expect(start({ ...given, REDIS_URL })).resolves.toMatchObject({ redisUrl: REDIS_URL });
  server.close();
});

test('ports are below the kernel’s client range, and stay the same', async () => {
  const file = join(scratch.folder(), 'ports.json');
  const port = await new Ports(file).take('redis');
  expect(port).toBeGreaterThan(1024);
  expect(port).toBeLessThan(32_768);
  expect(await new Ports(file).take('redis')).toBe(port);
});

test('does not take a port that is in use', async () => {
  const file = join(scratch.folder(), 'ports.json');
  const port = await new Ports(file).take('gateway');
  const { server } = await occupant(port);
  expect(await new Ports(file).take('gateway')).not.toBe(port);
  server.close();
});

test('reports a full disk in one sentence, before the start and during it', () => {
  const folder = scratch.folder();
  expect(() => requireSpace(folder, Number.MAX_SAFE_INTEGER)).toThrow(
    /^The disk that holds [^\n]* has \d+ MB left and \d+ MB are needed: free some space and start again\.$/,
  );
  for (const text of ['PANIC: could not write to file "pg_wal/xlogtemp.7": No space left on device', 'ENOSPC: no space left on device, write']) {
    expect(fullDisk(text, folder)?.message).toBe(`The disk that holds ${folder} is full: free some space there and start again.`);
  }
  expect(fullDisk('could not open file', folder)).toBeUndefined();
});

test('secrets are created once and readable by their owner only', () => {
  const state = scratch.folder();
  const secrets = readSecrets(state);
  expect(readSecrets(state)).toEqual(secrets);
  const { privateKey, jwksFile } = tokenIssuer(state);
  expect(tokenIssuer(state).privateKey).toEqual(privateKey);
  for (const name of ['secrets.json', 'token-issuer.json']) expect(statSync(join(state, name)).mode & 0o777).toBe(0o600);
  expect(jwksFile).toBe(join(state, 'jwks.json'));
});
