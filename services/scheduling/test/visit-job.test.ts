import { Visit, type VisitJob } from '@truckroll/contract/gen/scheduling/v1/job_appointments';
import { Job } from '@truckroll/contract/gen/scheduling/v1/jobs';
import { Location } from '@truckroll/contract/gen/scheduling/v1/locations';
import { checkVisit } from '../src/visits/check.ts';
import { locationIdOf, visitJobOf } from '../src/visits/job.ts';

const EMPTY = new Uint8Array();
const NIL = '00000000-0000-0000-0000-000000000000';
const JOB = '0b8f3c1e-7a52-4c6d-9e10-2f4a5b6c7d8e';
const ref = (name: string) => ({ id: `id of ${name}`, name });

const line: VisitJob = {
  id: 'another job',
  number: '1041',
  summary: 'Leak',
  account: ref('account of the line'),
  contact: ref('contact of the line'),
  business_unit: ref('unit of the line'),
  job_type: ref('type of the line'),
  job_class: 'JOB_CLASS_SERVICE',
  location: { id: 'l-1', name: 'Home', address: '1 Main St', latitude: 1, longitude: 2 },
};
const job: Job = {
  ...Job.decode(EMPTY),
  number: '1042',
  summary: 'Large leak',
  account: ref('account'),
  contact: ref('contact'),
  business_unit: ref('unit'),
  job_type: ref('type'),
  job_class: 'JOB_CLASS_SALES',
  location_id: 'l-2',
};
const location: Location = {
  ...Location.decode(EMPTY),
  id: 'l-2',
  name: 'Office',
  address: { id: 'a', formatted: '2 Main St', city: '', state: '', postal_code: '', line_1: '' },
  latitude: 3,
  longitude: 4,
};
const shown = (of: VisitJob | null, ...stored: [Job | undefined, Location | undefined]) => visitJobOf({ job_id: JOB, job: of }, ...stored);

test('finds the location of the job, or of the line until the job has arrived', () => {
  expect(locationIdOf(job, line)).toBe('l-2');
  expect(locationIdOf(undefined, line)).toBe('l-1');
  expect(locationIdOf(undefined, { ...line, location: null })).toBeUndefined();
  expect(locationIdOf(undefined, null)).toBeUndefined();
});

test('shows the stored job and location instead of the line’s', () => {
  const { number, summary, account, contact, business_unit, job_type, job_class } = job;
  const place = { id: 'l-2', name: 'Office', address: '2 Main St', latitude: 3, longitude: 4 };
  expect(shown(line, job, location)).toEqual({ id: JOB, number, summary, account, contact, business_unit, job_type, job_class, location: place });
});

test('shows the line’s job and location until they arrive, under the id of the visit’s job', () => {
  expect(shown(line, undefined, undefined)).toEqual({ ...line, id: JOB });
});

test('does not show the line’s location for a job at another one', () => {
  expect(shown(line, job, undefined).location).toEqual({ id: 'l-2', name: '', address: '' });
  expect(shown(line, { ...job, location_id: 'l-1' }, undefined).location).toEqual(line.location);
});

test('shows a job without values while neither the job nor a copy of it has arrived', () => {
  const none = { summary: null, contact: null, business_unit: null, job_type: null, job_class: null };
  const unknown = { id: NIL, name: '' };
  expect(shown(null, undefined, undefined)).toEqual({ ...none, id: JOB, number: '', account: unknown, location: { ...unknown, address: '' } });
  expect(shown({ ...line, location: null }, undefined, undefined).location).toEqual({ ...unknown, address: '' });
});

test('shows null for what the job and the location do not have', () => {
  const { summary, contact, business_unit, job_type, job_class, ...rest } = job;
  const bare = { ...location, address: null, latitude: null, longitude: null };
  expect(shown(line, rest as Job, bare)).toMatchObject({
    summary: null,
    contact: null,
    business_unit: null,
    job_type: null,
    job_class: null,
    location: { id: 'l-2', name: 'Office', address: '', latitude: null, longitude: null },
  });
});

test.each([
  [{ starts_at: 1, ends_at: 2, window_start_at: 1, window_end_at: 2 }, []],
  [{ starts_at: 1, ends_at: 1, window_start_at: 1, window_end_at: 2 }, ['ends_at']],
  [{ starts_at: 1, ends_at: 2, window_start_at: 2, window_end_at: 2 }, ['window_end_at']],
  [{ starts_at: 2, ends_at: 1, window_start_at: 2, window_end_at: 1 }, ['ends_at', 'window_end_at']],
])('of a visit with the times %j, refuses %j', (times, fields) => {
  expect(
    checkVisit({ ...Visit.decode(EMPTY), ...times })
      .map(({ field }) => field)
      .toSorted(),
  ).toEqual(fields);
});
