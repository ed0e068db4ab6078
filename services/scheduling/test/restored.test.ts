// What scheduling contributes after PostgreSQL was restored to an earlier moment.
import { randomUUID } from 'node:crypto';
import { topics } from '@truckroll/contract';
import { Name } from '@truckroll/contract/gen/events/v1/names';
import type { Database } from '@truckroll/postgres';
import { openFreshDatabase } from '@truckroll/testing';
import { eventsHad, restored } from '../src/restored.ts';
import { schema } from '../src/schema.ts';

let database: Database;
let close: () => Promise<void>;
beforeAll(async () => void ({ database, close } = await openFreshDatabase(schema)), 60_000);
afterAll(() => close());

test('publishes every name once, however many pages they fill', async () => {
  // 4,999 names, so that the first page ends between two kinds with the same ids.
  for (const [kind, count] of [
    ['accounts', 4999],
    ['team-members', 3],
  ]) {
    await database.query({
      text: `insert into names (company_id, kind, id, name, version)
        select $1, $2, lpad(i::text, 32, '0')::uuid, $2 || ' ' || i, 0 from generate_series(1, $3::integer) i`,
      values: ['00000000-0000-4000-8000-000000000001', kind, count],
    });
  }
  const other = '00000000-0000-4000-8000-000000000002';
  await database.query({ text: `insert into names (company_id, kind, id, name, version) values ($1, 'accounts', $1, 'Another company', 0)`, values: [other] });
  await database.transaction((tx) => restored.renew(tx));
  const { rows } = await database.query<{ key: string; company_id: string; payload: Buffer }>({
    text: 'select key, company_id, payload from outbox where topic = $1',
    values: [topics.names.name],
  });
  expect([rows.length, new Set(rows.map(({ key }) => key)).size]).toEqual([5003, 5003]);
  expect(rows.filter(({ key }) => key.includes('/team-members/'))).toHaveLength(3);
  const [last] = rows.filter(({ company_id }) => company_id === other);
  expect([last?.key, last && Name.decode(last.payload)]).toEqual([
    `${other}/accounts/${other}`,
    { company_id: other, kind: 'accounts', id: other, name: 'Another company' },
  ]);
});

test('publishes no watermark until every record has been published again', async () => {
  await database.query({ text: `insert into catch_up (task, subject, done, complete, processed) values ('publish', 'jobs', true, true, 7)` });
  await database.transaction((tx) => restored.renew(tx));
  const { rows } = await database.query({ text: 'select subject, done, complete, processed from catch_up where task = $1', values: ['publish'] });
  expect(rows).toEqual([{ subject: 'jobs', done: false, complete: false, processed: 0 }]);
});

test('knows how many events service requests and interactions of a company had', async () => {
  const [company, other, request, interaction] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
  await database.query({
    text: `insert into service_requests (company_id, id, event_sequence, document, fingerprint, recorded, unbooked, projection) values ($1, $2, 3, '', '', '', true, 1)`,
    values: [company, request],
  });
  await database.query({
    text: `insert into interactions (company_id, id, event_sequence, document, recorded) values ($1, $2, 1, '', '')`,
    values: [company, interaction],
  });
  const keys = [request, interaction].flatMap((id) => [`${company}/${id}`, `${other}/${id}`]);
  expect([...(await eventsHad(database, keys))].toSorted(([, a], [, b]) => a - b)).toEqual([
    [`${company}/${interaction}`, 1],
    [`${company}/${request}`, 3],
  ]);
});
