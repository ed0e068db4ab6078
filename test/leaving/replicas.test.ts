// Two replicas of a service work on the same removal and the same erasure: each row is removed or changed, and counted, once.
import type { Database, Queryable } from '@truckroll/postgres';
import { silentLog } from '@truckroll/telemetry';
import { openFreshDatabase, whileOpen } from '@truckroll/testing';
import type { ErasureOptions, PersonStep } from '../../packages/erasure/src/options.ts';
import { eraseNext } from '../../packages/erasure/src/people.ts';
import { removeNext, type Removing } from '../../packages/erasure/src/remove.ts';
import { markErased, markPersonErased } from '../../packages/outbox/src/index.ts';
import { schema } from '../../services/reporting/src/schema.ts';

const COMPANY = '7c9e6679-7425-40de-944b-e07fc1f90ae7';
const ROWS = 3300;
/** Rows of a step of the erasure. */
const PAGE = 100;

let database: Database;
let close: () => Promise<void>;
beforeAll(async () => {
  ({ database, close } = await openFreshDatabase(schema));
  await database.query({
    text: `insert into names (company_id, kind, id, name, version) select $1, 'accounts', md5(n::text)::uuid, 'a name', 1 from generate_series(1, $2) n`,
    values: [COMPANY, ROWS],
  });
}, 60_000);
afterAll(() => close());

const names: PersonStep = {
  table: 'names',
  async next(tx, { companyId }, after) {
    const { rows } = await tx.query<{ id: string }>({
      text: `update names set name = name || '!' where company_id = $1 and id in (
          select id from names where company_id = $1 and ($2::uuid is null or id > $2) order by id limit ${PAGE}) returning id`,
      values: [companyId, after],
    });
    const ids = rows.map(({ id }) => id).toSorted();
    return { changed: rows.length, after: rows.length < PAGE ? null : ids.at(-1)! };
  },
};

function options(): ErasureOptions {
  const restored = { schema: '', states: [], groups: [] };
  return { database, catchUp: undefined as never, log: silentLog, restored, kinds: [], people: { steps: [names] }, poke: () => undefined };
}

/** Both replicas work until neither finds anything to do. */
async function bothWork(next: (replica: number) => Promise<boolean>): Promise<void> {
  const work = async (replica: number): Promise<void> => {
    while (await next(replica));
  };
  do await Promise.all([work(0), work(1)]);
  while (await next(0));
}

test('an erasure looks at each page once in a round', async () => {
  await markPersonErased(database, { companyId: COMPANY, kind: 'accounts', id: COMPANY, askedAt: 1 });
  const replicas = [options(), options()];
  await bothWork((replica) => eraseNext(replicas[replica]!));
  const { rows } = await database.query({ text: 'select distinct name, (select changed from erased_people) as changed from names' });
  expect(rows).toEqual([{ name: 'a name!', changed: { names: ROWS } }]);
});

test('an erasure takes the lock of the company before the row of the person, as a replica that learns of another request does', async () => {
  const lock = (tx: Queryable): Promise<void> => tx.query({ text: 'select pg_advisory_xact_lock(1)' }).then(() => undefined);
  const markAgain = (tx: Queryable): Promise<unknown> => markPersonErased(tx, { companyId: COMPANY, kind: 'accounts', id: COMPANY, askedAt: 2 });
  await whileOpen(database, lock, () => eraseNext({ ...options(), lock }), markAgain);
});

test('a removal counts each row once', async () => {
  await markErased(database, COMPANY);
  const replicas = [1, 2].map((): Removing => ({ ...options(), own: [], at: new Map(), clean: new Set(), said: new Map() }));
  await removeNext(replicas[0]!);
  await database.query({ text: `update erased_companies set closed_at = closed_at - interval '1 minute'` });
  await bothWork((replica) => removeNext(replicas[replica]!));
  const { rows } = await database.query({ text: 'select ended_at is not null as ended, removed from erased_companies' });
  expect(rows).toEqual([{ ended: true, removed: { names: ROWS, erased_people: 1 } }]);
});
