import { randomUUID } from 'node:crypto';
import { Name } from '@truckroll/contract/gen/events/v1/names';
import { Job } from '@truckroll/contract/gen/scheduling/v1/jobs';
import { topics } from '@truckroll/contract';
import { soon, startHarness, type Company, type Harness } from './harness.ts';
import { account, assignment, equipment, job, ref, visit, type Line } from './records.ts';

let harness: Harness;
let company: Company;
beforeAll(async () => void (harness = await startHarness()));
beforeEach(() => void (company = harness.company()));
afterAll(() => harness.stop());

const ids = (records: readonly Line[]): string[] => records.map(({ id }) => id);

/** What the company has published on a topic so far, oldest first. */
async function published(topic: { name: string }): Promise<{ key: string; type: string; payload: Buffer | null }[]> {
  const text = 'select key, type, payload from outbox where topic = $1 and company_id = $2 order by id';
  return (await harness.database.query<any>({ text, values: [topic.name, company.id] })).rows;
}

test('shows the latest name in references, and publishes a name only if it is new or changed', async () => {
  const home = account();
  const work = job({ account: ref(home.id) });
  await company.store('jobs', work);
  expect((await company.detail('jobs', work.id)).account.name).toBe('as the line says');
  await company.store('accounts', home);
  await soon(async () => (await company.detail('jobs', work.id)).account.name, 'Whitfield Residence');
  await company.store('accounts', { ...home, archived: true });
  await company.store('accounts', { ...home, name: 'Whitfield & Söhne' });
  await soon(async () => (await company.detail('jobs', work.id)).account.name, 'Whitfield & Söhne');
  const names = (await published(topics.names)).map(({ key, payload }) => [key, Name.decode(payload!).name]);
  const key = `${company.id}/accounts/${home.id}`;
  expect(names).toEqual([
    [key, 'Whitfield Residence'],
    [key, 'Whitfield & Söhne'],
  ]);
});

test('publishes jobs and assignments whole whenever they change, including derived fields', async () => {
  const work = job();
  const first = visit({ job_id: work.id });
  const part = assignment({ appointment_id: first.id });
  await company.store('jobs', work);
  await company.store('job-appointments', first);
  await company.store('job-assignments', part);
  await company.store('job-appointments', { ...first, description: 'Nothing that the job shows' });
  const jobs = await published(topics.jobs);
  expect(jobs.map(({ key, payload }) => [key, Job.decode(payload!).appointment_count])).toEqual([
    [`${company.id}/${work.id}`, 0],
    [`${company.id}/${work.id}`, 1],
  ]);
  expect(Job.decode(jobs[1]!.payload!)).toEqual(await company.detail('jobs', work.id));
  expect((await published(topics.assignments)).map(({ key, type }) => [key, type])).toEqual([[`${company.id}/${part.id}`, 'assignment.changed']]);
});

test('gives every company the nine job classes, in the order of their codes', async () => {
  const classes = await company.list('job-classes');
  expect(ids(classes).map((id) => id.replace('JOB_CLASS_', ''))).toEqual([
    'CALLBACK',
    'ESTIMATE_REPAIR',
    'ESTIMATE_REPLACE',
    'INSTALL',
    'MAINTENANCE',
    'SALES',
    'SERVICE',
    'UNKNOWN',
    'WARRANTY',
  ]);
  expect(classes.filter(({ legacy }) => legacy).map(({ name }) => name)).toEqual(['Sales', 'Unknown']);
  expect(await company.detail('job-classes', 'JOB_CLASS_INSTALL')).toMatchObject({ name: 'Installation', group: 'JOB_CLASS_GROUP_INSTALL' });
  expect(await company.detail('job-classes', 'INSTALL')).toMatchObject({ name: 'Installation' });
  expect(await company.list('job-classes', { ids: ['JOB_CLASS_SALES', 'JOB_CLASS_INSTALL'] })).toHaveLength(2);
  expect(await company.list('job-classes', { group: ['JOB_CLASS_GROUP_SALES'] })).toHaveLength(3);
});

test('imports an export of job classes without changes, and refuses a different line', async () => {
  const line = { id: 'INSTALL', name: 'Installation', group: 'INSTALL', legacy: false };
  expect(await company.importLines('job-classes', [line])).toMatchObject({ created: 0, changed: 0, unchanged: 1, problems: [] });
  const { problems, unchanged } = await company.importLines('job-classes', [{ ...line, name: 'Install', legacy: true }]);
  expect(problems.map(({ field }) => field)).toEqual(['name', 'legacy']);
  expect(unchanged).toBe(0);
  expect(await harness.company().detail('job-classes', 'INSTALL')).toMatchObject({ name: 'Installation' });
});

test('requires one warranty to meet both bounds', async () => {
  const apart = equipment({ manufacturer_warranty_ends_on: '2024-06-01', labor_warranty_ends_on: '2030-06-01' });
  const inside = equipment({ manufacturer_warranty_ends_on: null, labor_warranty_ends_on: '2026-06-01' });
  const both = equipment({ manufacturer_warranty_ends_on: '2026-06-01', labor_warranty_ends_on: '2026-06-01' });
  await company.store('equipment', apart, inside, both, equipment());
  const found = async (warranty_ends_from: string | null, warranty_ends_before: string | null) =>
    ids(await company.list('equipment', { warranty_ends_from, warranty_ends_before }));
  const sorted = (...of: Line[]) => ids(of).sort();
  expect(await found('2026-01-01', '2027-01-01')).toEqual(sorted(inside, both));
  expect(await found('2027-01-01', null)).toEqual([apart.id]);
  expect(await found(null, '2026-06-02')).toEqual(sorted(apart, inside, both));
  await company.store('equipment', { ...inside, labor_warranty_ends_on: null });
  expect(await found('2026-01-01', '2027-01-01')).toEqual([both.id]);
});

test('filters tags by archived, which follows archived_at, and by what they apply to', async () => {
  const at = '2026-03-01T15:00:00Z';
  const tag = (fields: Line) => ({ id: randomUUID(), name: 'VIP', color: null, archived_at: null, applies_to: [], created_at: at, updated_at: at, ...fields });
  const [kept, gone] = [tag({ applies_to: ['JOB', 'ACCOUNT'] }), tag({ applies_to: ['JOB'], archived_at: at })];
  await company.store('tags', kept, gone);
  expect(ids(await company.list('tags', { archived: true }))).toEqual([gone.id]);
  expect(ids(await company.list('tags', { archived: false }))).toEqual([kept.id]);
  expect(ids(await company.list('tags', { applies_to: ['TAG_TARGET_JOB', 'TAG_TARGET_ACCOUNT'] })).sort()).toEqual(ids([kept, gone]).sort());
  await company.store('tags', { ...kept, applies_to: ['ESTIMATE'], created_at: '2025-03-01T15:00:00Z' });
  expect(ids(await company.list('tags', { applies_to: ['TAG_TARGET_JOB', 'TAG_TARGET_ACCOUNT'] }))).toEqual([gone.id]);
  expect(ids(await company.list('tags', { applies_to: ['TAG_TARGET_ESTIMATE'] }))).toEqual([kept.id]);
});
