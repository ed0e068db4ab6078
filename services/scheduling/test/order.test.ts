import { resources, topics, type Shape } from '@truckroll/contract';
import { generateCompany } from '@truckroll/demo-company';
import { startHarness, type Company, type Harness, type Json } from './harness.ts';

const own = resources.filter(({ owner }) => owner === 'scheduling').map(({ path }) => path);
/** Maximum records of a kind. Only working time has more, which does not depend on the number of jobs. */
const MOST = 150;
const files = generateCompany({ seed: 11, size: { jobs: 40, members: 20, accounts: 20 }, timezone: 'America/Chicago', until: '2026-11-20T18:00:00Z' })
  .filter(({ path }) => own.includes(path))
  .map(({ path, records }) => ({ path, records: [...records].slice(0, MOST) as Json[] }));

let harness: Harness;
let company: Company;
let expected: Record<string, Json[]>;
beforeAll(async () => {
  harness = await startHarness();
  company = harness.company();
  for (const { path, records } of files) await company.store(path, ...records);
  expected = await everything(company);
}, 60_000);
afterAll(() => harness.stop());

async function everything(company: Company): Promise<Record<string, Json[]>> {
  const whole: Record<string, Json[]> = {};
  for (const path of own) {
    const records: Json[] = (whole[path] = []);
    for (let after: Uint8Array | undefined = new Uint8Array(); after !== undefined; ) {
      const page: { data: Json[]; next: Uint8Array } = await company.page(path, { after });
      records.push(...page.data);
      after = page.next.length > 0 ? page.next : undefined;
    }
  }
  return whole;
}

function shuffled<T>(items: readonly T[], seed: number): T[] {
  let state = seed;
  const next = (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  const out = [...items];
  for (let i = out.length - 1; i > 0; i--) {
    const j = next(i + 1);
    [out[i], out[j]] = [out[j] as T, out[i] as T];
  }
  return out;
}

test('reads the demo company back with every visit assigned, counted and shown with its job', () => {
  const visits = expected['job-appointments']!;
  expect(visits.length).toBeGreaterThan(30);
  expect(visits.flatMap(({ assignments }) => assignments)).toHaveLength(expected['job-assignments']!.length);
  expect(new Set(visits.map(({ dispatch_status }) => dispatch_status)).size).toBeGreaterThan(3);
  for (const { job, job_id } of visits) expect(job.number).toBe(expected['jobs']!.find(({ id }) => id === job_id)!['number']);
});

/** The kinds that a record of this shape shows by name, at any depth. */
function shownByName({ fields }: Shape): string[] {
  return fields.flatMap(({ kind, refersTo, shape }) => [
    ...(kind === 'reference' && refersTo !== undefined ? [refersTo] : []),
    ...(shape ? shownByName(shape) : []),
  ]);
}

test('publishes the name of every record of a kind that any record shows by name', async () => {
  const kinds = [...new Set(resources.flatMap(({ record }) => shownByName(record)))].filter((kind) => own.includes(kind));
  const { rows } = await harness.database.query<{ key: string }>({
    text: 'select key from outbox where topic = $1 and company_id = $2',
    values: [topics.names.name, company.id],
  });
  const published = new Set(rows.map(({ key }) => key));
  for (const kind of kinds) {
    const keys = expected[kind]!.map(({ id }) => `${company.id}/${kind}/${id}`);
    expect([kind, keys.length > 0, keys.filter((key) => !published.has(key))]).toEqual([kind, true, []]);
  }
});

test.each([1, 2])(
  'files in a random order (%i) lead to the same reads',
  async (seed) => {
    const company = harness.company();
    for (const { path, records } of shuffled(files, seed)) await company.store(path, ...shuffled(records, seed + 1));
    expect(await everything(company)).toEqual(expected);
  },
  60_000,
);

test.each([4])(
  'lines of all files in a random order (%i), each twice, lead to the same reads',
  async (seed) => {
    const company = harness.company();
    const lines = files.flatMap(({ path, records }) => records.map((record) => ({ path, record })));
    const mixed = shuffled([...lines, ...lines], seed);
    // A few hundred batches rather than thousands: each window is sent grouped by path.
    for (let start = 0; start < mixed.length; start += 60) {
      for (const [path, of] of Map.groupBy(mixed.slice(start, start + 60), ({ path: each }) => each)) {
        await company.store(path, ...new Map(of.map(({ record }) => [record['id'], record])).values());
      }
    }
    expect(await everything(company)).toEqual(expected);
  },
  60_000,
);

test('ends with the last state of records that first had other values', async () => {
  const company = harness.company();
  const of = (path: string) => files.find((file) => file.path === path)!.records;
  const scramble = (path: string, change: (record: Json, other: Json) => Json) => {
    const records = of(path);
    return company.store(path, ...records.map((record, i) => ({ ...record, ...change(record, records[(i + 7) % records.length]!) })));
  };
  await scramble('job-assignments', (_, { appointment_id, job_id, status, starts_at }) => ({ appointment_id, job_id, status, starts_at }));
  await scramble('jobs', (_, { account, location_id, lifecycle, status, created_at }) => ({ account, location_id, lifecycle, status, created_at }));
  await scramble('job-appointments', (_, { job_id, canceled, starts_at, ends_at, created_at }) => ({ job_id, canceled, starts_at, ends_at, created_at }));
  await scramble('locations', (_, { name, address, accounts }) => ({ name, address, accounts }));
  await scramble('accounts', (_, { name, created_at }) => ({ name, created_at }));
  await scramble('job-lifecycles', ({ statuses }) => ({ statuses: statuses.slice(1) }));
  await scramble('time-entries', (_, { timesheet_id, starts_at, ends_at, duration_minutes, paid }) => ({
    timesheet_id,
    starts_at,
    ends_at,
    duration_minutes,
    paid,
  }));
  await scramble('form-responses', (_, { job_id }) => ({ job_id }));
  for (const { path, records } of shuffled(files, 6)) await company.store(path, ...records);
  expect(await everything(company)).toEqual(expected);

  const members = expected['team-members']!.map(({ id }) => id);
  const original = harness.company();
  for (const { path, records } of files) await original.store(path, ...records);
  for (const path of ['job-appointments', 'jobs']) {
    for (const member of members) {
      const filter = { team_member_id: [member] };
      expect((await company.list(path, filter)).map(({ id }) => id)).toEqual((await original.list(path, filter)).map(({ id }) => id));
    }
  }
}, 60_000);
