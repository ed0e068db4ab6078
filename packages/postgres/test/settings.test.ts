import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfig } from '@truckroll/process';
import { databaseSettings, databaseUrls } from '../src/index.ts';
import { connectionConfig } from '../src/driver/connection.ts';
import { typeParsers } from '../src/type-parsers.ts';

const DATABASE = 'postgres://user:secret@host:5432/db';
const folder = mkdtempSync(join(tmpdir(), 'truckroll-postgres-'));
const file = join(folder, 'url');
afterAll(() => rmSync(folder, { recursive: true }));

test('a service needs one URL, migrates at its start, and opens sessions by the same URL unless it has another', () => {
  const read = (more: Record<string, string>) => readConfig(databaseSettings, { DATABASE_URL: DATABASE, ...more });
  expect(read({})).toEqual({ databaseUrl: DATABASE, databaseSessionUrl: undefined, migrateAtStart: true });
  const session = 'postgres://user:secret@direct/db';
  const config = read({ DATABASE_SESSION_URL: session, MIGRATE_AT_START: 'false' });
  expect([databaseUrls(config), config.migrateAtStart]).toEqual([{ url: DATABASE, sessionUrl: session }, false]);
});

test('a URL that is none is refused without being repeated', () => {
  const read = () => readConfig(databaseSettings, { DATABASE_URL: 'mysql://user:hunter2@host/db', DATABASE_SESSION_URL: 'hunter2' });
  expect(read).toThrow(/^DATABASE_URL is invalid: it must be postgres:.*\nDATABASE_SESSION_URL is invalid/);
  expect(read).not.toThrow(/hunter2/);
});

test('a URL in a file is read again for each connection; while the file is missing or invalid, the last one is used', () => {
  writeFileSync(file, `${DATABASE}\n`);
  const { databaseUrl } = readConfig(databaseSettings, { DATABASE_URL_FILE: file });
  const read = () => connectionConfig({ url: databaseUrl }).connectionString;
  expect([typeof databaseUrl, read()]).toEqual(['function', DATABASE]);
  const rotated = DATABASE.replace('secret', 'rotated');
  writeFileSync(file, rotated);
  expect(read()).toBe(rotated);
  writeFileSync(file, 'half-writ');
  expect(read()).toBe(rotated);
  rmSync(file);
  expect(read()).toBe(rotated);
  writeFileSync(file, DATABASE);
  expect(read()).toBe(DATABASE);
});

test('a connection gives up a second after the statement timeout, or never without one, and waits 2 s for a server', () => {
  const { connectionTimeoutMillis, query_timeout, keepAlive, application_name } = connectionConfig({ url: DATABASE });
  expect([connectionTimeoutMillis, query_timeout, keepAlive, application_name]).toEqual([2000, 16_000, true, 'truckroll']);
  const other = connectionConfig({ url: DATABASE, statementTimeoutMs: 0, connectTimeoutMs: 7 });
  expect(['query_timeout' in other, other.connectionTimeoutMillis, 'candidates' in other]).toEqual([false, 7, false]);
});

test('a URL with several hosts offers each of them to a connection that must write', () => {
  const { connectionString, candidates } = connectionConfig({ url: 'postgres://user:secret@a:1,b:2/db?target_session_attrs=read-write' });
  const urls = ['a:1', 'b:2'].map((host) => `postgres://user:secret@${host}/db?target_session_attrs=read-write`);
  expect([connectionString, candidates]).toEqual([urls[0], urls]);
});

const parse = (oid: number, text: string): unknown => typeParsers.getTypeParser(oid)(text as never);

test.each([
  ['a bigint', 20, '-9007199254740991', -9_007_199_254_740_991],
  ['a timestamp with time zone', 1184, '2026-03-01 15:04:05.123456+00', 1_772_377_445_123_456],
  ['a date', 1082, '2026-03-01', '2026-03-01'],
  ['a timestamp', 1114, '2026-03-01 15:04:05', '2026-03-01 15:04:05'],
  ['a numeric', 1700, '1.10', '1.10'],
  ['an integer', 23, '7', 7],
  ['a boolean', 16, 't', true],
])('%s is read exactly', (_, oid, text, value) => {
  expect(parse(oid, text)).toBe(value);
});

test('what a number cannot hold exactly is refused, and binary values are returned unchanged', () => {
  for (const text of ['9007199254740992', '-9007199254740992'])
    expect(() => parse(20, text)).toThrow(new RangeError('a bigint of the database is beyond 2^53 - 1'));
  expect(() => parse(1184, 'infinity')).toThrow(new RangeError('a timestamp of the database cannot be held exactly'));
  const bytes = Buffer.of(1);
  expect(typeParsers.getTypeParser(20, 'binary')(bytes as never)).toBe(bytes);
});
