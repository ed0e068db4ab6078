// Services publish a record exactly as they answer a read of it.
import { randomUUID } from 'node:crypto';
import { codec, recordOwners, resource, resources, topics } from '@truckroll/contract';
import { until } from '@truckroll/testing/until';
import { importRecords } from './support/company.ts';
import { demoLines } from './support/demo.ts';
import { startOwners, tablesOf, type Owners } from './support/owners.ts';

const MINUTES = 60_000;
const company = randomUUID();
let owners: Owners;
let payments: unknown[];

beforeAll(async () => {
  owners = await startOwners();
  const lines = demoLines({ seed: 7, size: 120, timezone: 'America/Chicago', until: '2026-11-20T18:00:00Z' });
  // In reverse order of dependency, so that each later import changes records that are already stored.
  for (const [path, records] of lines.toReversed()) {
    const owner = resource(path).owner as (typeof recordOwners)[number];
    await importRecords(owners.channels[owner], company, path, records);
    if (path === 'payments') payments = records;
  }
}, 5 * MINUTES);

afterAll(() => owners.stop());

const published = recordOwners.flatMap((owner) =>
  tablesOf[owner].flatMap(({ resource: { path }, publishes }) => (publishes ? [{ owner, path, topic: publishes.topic }] : [])),
);

test('publishes the records that other services keep read models of', () => {
  expect(published.map(({ topic }) => topic)).toEqual(expect.arrayContaining([topics.jobs, topics.assignments, topics.invoices]));
});

test.each(published)('has last published $path as a read returns them', async ({ owner, path, topic }) => {
  const { rows } = await owners.databases[owner].query<{ key: string; payload: Buffer }>({
    text: 'select distinct on (key) key, payload from outbox where topic = $1 order by key, id desc',
    values: [topic.name],
  });
  const { decode } = codec(resource(path).record.typeName);
  const published = new Map(rows.map(({ key, payload }) => [key, facts(decode(payload))]));
  const read = await owners.list(company, path);
  expect(read.length).toBeGreaterThan(0);
  expect(published).toEqual(new Map(read.map((record) => [`${company}/${record['id']}`, facts(record)])));
});

test('assigns every record of the contract to one of the services that the tests start', () => {
  const registered = recordOwners.flatMap((owner) => tablesOf[owner].map(({ resource: { path } }) => path));
  expect(registered.sort()).toEqual(resources.map(({ path }) => path).sort());
});

describe('an owner’s stored records', () => {
  const publishedKeys = async (): Promise<string[]> => {
    const { rows } = await owners.databases.billing.query<{ key: string }>({
      text: `select distinct key from outbox where topic = $1 order by key`,
      values: [topics.payments.name],
    });
    return rows.map(({ key }) => key);
  };
  const keysOf = async (of: string): Promise<string[]> => (await owners.list(of, 'payments')).map(({ id }) => `${of}/${id}`);
  const forget = (): Promise<unknown> => owners.databases.billing.query({ text: 'delete from outbox' });

  test('is published at the first start of a release that publishes it, whichever release stored it, for every company', async () => {
    const other = randomUUID();
    // With ids of the first company: each company is published from its first id.
    await importRecords(owners.channels.billing, other, 'payments', payments.slice(0, 2));
    const held = [...(await keysOf(company)), ...(await keysOf(other))].sort();
    await forget();
    // As in the previous release's schema: no record of any publication.
    await owners.databases.billing.query({ text: `delete from catch_up where task = 'publish'` });
    await until(`all ${held.length} payments to be published`, publishedKeys, ({ length }) => length === held.length);
    expect(await publishedKeys()).toEqual(held);
    const incomplete = () => owners.databases.billing.query({ text: 'select * from catch_up where not complete' });
    await until('all publications to be complete', incomplete, ({ rowCount }) => rowCount === 0);
  });

  test('is published when a replica of the previous release has changed it, and nothing else is', async () => {
    const [{ id }] = (await owners.list(company, 'payments')) as [{ id: string }];
    await forget();
    // This connection does not announce that it publishes its changes, like one of the previous release.
    await owners.databases.billing.query({ text: 'update payments set document = document where company_id = $1 and id = $2', values: [company, id] });
    await until('the payment to be published', publishedKeys, ({ length }) => length > 0);
    expect(await publishedKeys()).toEqual([`${company}/${id}`]);
    await until(
      'nothing to be left to publish',
      () => owners.databases.billing.query({ text: 'select * from unpublished' }),
      ({ rowCount }) => rowCount === 0,
    );
  });
});

/** Everything except names, which have their own topic, and an invoice's age, which depends on the day. */
function facts(record: unknown): unknown {
  return JSON.parse(
    JSON.stringify(record, (key, value: unknown) => {
      if (key === 'aging') return undefined;
      const isReference = typeof value === 'object' && value !== null && Object.keys(value).sort().join() === 'id,name';
      return isReference ? (value as { id: string }).id : value;
    }),
  );
}
