// A release that adds something, beside the one that is here, on one installation with old data.
import { randomUUID } from 'node:crypto';
import { ProjectionServiceService } from '@truckroll/contract/gen/records/v1/projections';
import { acceptanceOf, openChannel, testCallers, type Channel } from '@truckroll/service-kit';
import * as line from '../../services/scheduling/test/records.ts';
import { startSystem, type System, type TestCompany } from '../support/system.ts';
import { addFilter } from './changes.ts';
import { Tree, type Program } from './tree.ts';

const MINUTES = 60_000;
let system: System;
let tree: Tree;
const programs: Program[] = [];
const channels: Channel[] = [];
let company: TestCompany;
let newer: { gateway: string; scheduling: Channel };

const location = (property_type: string): line.Line => line.location({ property_type });
const houses = Array.from({ length: 250 }, (_, i) => location(i % 2 === 0 ? 'House' : 'Shop'));

beforeAll(async () => {
  system = await startSystem();
  company = await system.createCompany();
  await system.importRecords(company, 'locations', houses);
  tree = new Tree();
  addFilter(tree);
  tree.generate();
}, 5 * MINUTES);

afterAll(async () => {
  for (const channel of channels) channel.close();
  for (const program of programs.toReversed()) await program.stop();
  await system.stop();
  tree?.remove();
});

const portOf = async (program: Program): Promise<number> => Number((await program.line(/"port":(\d+),.*serving/))[1]);

async function startNewer(): Promise<typeof newer> {
  const scheduling = tree.run('services/scheduling/src/main.ts', {
    DATABASE_URL: system.database.options.url,
    KAFKA_BROKERS: system.dispatcherEnvironment['KAFKA_BROKERS']!,
    KAFKA_PREFIX: system.dispatcherEnvironment['KAFKA_PREFIX']!,
    CALLER_CREDENTIALS: testCallers.map(acceptanceOf).join(),
  });
  programs.push(scheduling);
  const address = `127.0.0.1:${await portOf(scheduling)}`;
  const gateway = tree.run('gateway/src/main.ts', { ...system.gatewayEnvironment, LOG_LEVEL: 'info', SCHEDULING_ADDRESS: address });
  programs.push(gateway);
  const channel = openChannel(address, { credentials: testCallers });
  channels.push(channel);
  return { gateway: `http://127.0.0.1:${await portOf(gateway)}`, scheduling: channel };
}

async function get(path: string): Promise<{ status: number; retryAfter: string | null; body: any }> {
  const response = await fetch(`${newer.gateway}${path}`, { headers: { authorization: `Bearer ${company.apiKey}` } });
  return { status: response.status, retryAfter: response.headers.get('retry-after'), body: await response.json() };
}

/** Ids of every page; 503 and its message while the filter is not ready. */
async function ofType(type: string): Promise<string[] | { refused: string }> {
  const ids: string[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { status, retryAfter, body } = await get(`/v1/locations?limit=100&property_type=${type}${cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`}`);
    if (status === 503) {
      expect(Number(retryAfter)).toBeGreaterThan(0);
      return { refused: body.error.message as string };
    }
    expect(status).toBe(200);
    ids.push(...body.data.map(({ id }: { id: string }) => id));
    cursor = body.pagination.next_cursor;
  }
  return ids.sort();
}

async function reproject(): Promise<number> {
  let renewed = 0;
  for await (const step of newer.scheduling.client(ProjectionServiceService).reproject({ path: 'locations' })) renewed = step.renewed;
  return renewed;
}

const idsOf = (type: string, records: readonly line.Line[]): string[] => records.filter(({ property_type }) => property_type === type).map(({ id }) => id as string).sort();

it('adds a filter that finds old records: 503 until all of them are there, while other filters go on', async () => {
  // What projects anew waits for the company, as it would behind an import.
  const held = await system.database.session();
  await held.query({ text: `select pg_advisory_lock(hashtextextended('records of ' || $1 || ' in scheduling', 0))`, values: [company.id] });
  newer = await startNewer();
  const refused = await ofType('House');
  expect(refused).toEqual({ refused: expect.stringMatching(/property_type is new here .*250 of the company's records/) });
  expect((await get('/v1/locations?limit=100&postal_code=78701')).body.data).toHaveLength(100);
  expect((await get('/v1/locations?limit=100')).status).toBe(200);
  await held.close();

  await reproject();
  expect(await ofType('House')).toEqual(idsOf('House', houses));
  expect(await ofType('Shop')).toEqual(idsOf('Shop', houses));
}, 5 * MINUTES);

it('never answers with a part while a replica of the release before goes on writing', async () => {
  const more: line.Line[] = [];
  for (let round = 0; round < 5; round += 1) {
    const record = { ...location('Barn'), id: randomUUID() };
    // Through the release before, which knows of no such column.
    expect((await system.importRecords(company, 'locations', [record])).created).toBe(1);
    more.push(record);
    const answer = await ofType('Barn');
    if (Array.isArray(answer)) expect(answer).toEqual(idsOf('Barn', more));
  }
  const moved = { ...houses[0]!, property_type: 'Barn', updated_at: '2026-03-05T15:00:00Z' };
  expect((await system.importRecords(company, 'locations', [moved])).changed).toBe(1);
  await reproject();
  expect(await ofType('Barn')).toEqual(idsOf('Barn', [...more, moved]));
  expect(await ofType('House')).toEqual(idsOf('House', houses.slice(1)));
});

it('leaves the release before at work: it reads and imports as ever, and does not project', async () => {
  expect((await system.get(company, '/v1/locations?limit=100')).status).toBe(200);
  const older = system.channel('scheduling').client(ProjectionServiceService).reproject({ path: 'locations' });
  await expect(older[Symbol.asyncIterator]().next()).rejects.toMatchObject({ status: 503 });
});
