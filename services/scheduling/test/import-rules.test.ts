// What lines may contain (decisions §12), and which record wins if two contain the same fact.
import { randomUUID } from 'node:crypto';
import { codec, resource } from '@truckroll/contract';
import { RecordReadServiceService } from '@truckroll/contract/gen/records/v1/record_reads';
import { ImportServiceService } from '@truckroll/contract/gen/records/v1/records';
import { startHarness, type Company, type Harness } from './harness.ts';
import { deriveTimeEntries } from '../src/timesheets/derive.ts';
import { assignment, formResponse, job, location, ref, timeEntry, timesheet, visit, type Line } from './records.ts';

let harness: Harness;
let company: Company;
beforeAll(async () => void (harness = await startHarness()));
beforeEach(() => void (company = harness.company()));
afterAll(() => harness.stop());

/** `field CODE` of each problem of a line that is sent between two good ones, which must be stored. */
async function refused(path: string, good: () => Line, bad: Line): Promise<string[]> {
  const { created, problems } = await company.importLines(path, [good(), bad, good()]);
  expect(created).toBe(problems.length === 0 ? 3 : 2);
  expect(problems.every(({ line }) => line === 2)).toBe(true);
  return problems.map(({ field, code }) => `${field} ${code}`);
}

const AT = '2026-03-01T15:00:00Z';
const channel = (type: string, value: string): Line => ({ id: randomUUID(), type, value, is_primary: false, opted_out: false });
function contact(channels: Line[], primary_channel: Line | null = null): Line {
  return { id: randomUUID(), account: ref(), name: 'Dana', is_primary: true, archived: false, primary_channel, channels, created_at: AT, updated_at: AT };
}

test('requires a visit and its arrival window to end after they start', async () => {
  const { starts_at, window_start_at } = visit();
  expect(await refused('job-appointments', visit, visit({ ends_at: starts_at, window_end_at: window_start_at }))).toEqual([
    'window_end_at RANGE_ORDER',
    'ends_at RANGE_ORDER',
  ]);
});

test('takes what answers can hold: documents of 4 MiB, and as much of assignments on one visit', async () => {
  const tooLarge = async (path: string, ...lines: Line[]): Promise<[number, string | undefined][]> => {
    const { problems } = await company.importLines(path, lines);
    for (const { field, code } of problems) expect([field, code]).toEqual(['(line)', 'TOO_LARGE']);
    return problems.map(({ line, message }) => [line, /job-appointments|form-responses/.exec(message)?.[0]]);
  };
  const form = (bytes: number): Line => formResponse({ name: 'x'.repeat(bytes) });
  expect(await tooLarge('form-responses', form(4_100_000), form(4_200_000), form(9))).toEqual([[2, 'form-responses']]);
  const [first, second] = [visit(), visit()];
  await company.importLines('job-appointments', [first, second]);
  const of = (one: Line): Line => assignment({ appointment_id: one['id'], job_id: one['job_id'], team_member: ref(randomUUID(), 'x'.repeat(1_500_000)) });
  const lines = [of(first), of(first), of(first), of(second)];
  expect(await tooLarge('job-assignments', ...lines)).toEqual([[3, 'job-appointments']]);
});

test('requires channels to match their type', async () => {
  const wrong = [
    channel('MOBILE', '512-555-0142'),
    channel('PHONE', 'dana@example.com'),
    channel('EMAIL', 'dana@example.com, eve@example.com'),
    channel('EMAIL', 'da\u0007na@example.com'),
    channel('EMAIL', 'Dana <dana@example.com>'),
  ];
  const right = [channel('MOBILE', '+15125550142'), channel('PHONE', '+15125550143'), channel('EMAIL', "d.o'neil+büro@example.com")];
  const good = () => contact(right);
  expect(await refused('contacts', good, contact([...right, ...wrong]))).toEqual(wrong.map((_, i) => `channels[${i + 3}].value INVALID_FORMAT`));
});

test('requires the primary channel to be one of the channels, ignoring letter case', async () => {
  const good = () => contact([channel('EMAIL', 'Dana@Example.com')], { type: 'EMAIL', value: 'dana@example.com' });
  expect(await refused('contacts', good, contact([channel('MOBILE', '+15125550142')], { type: 'PHONE', value: '+15125550142' }))).toEqual([
    'primary_channel INVALID_FORMAT',
  ]);
});

test('accepts an account once per location, and checks the ranges of coordinates and areas', async () => {
  const account = ref();
  const at = (...accounts: Line[]): Line => location({ accounts: accounts.map((of) => ({ account: of, archived: false })) });
  const good = () => at(account, ref());
  expect(await refused('locations', good, at(account, ref(), account))).toEqual(['accounts[2].account.id INVALID_FORMAT']);
  expect(await refused('locations', good, location({ latitude: 90.1, longitude: -180.1, estimated_square_footage: -1 }))).toEqual([
    'latitude OUT_OF_RANGE',
    'longitude OUT_OF_RANGE',
    'estimated_square_footage OUT_OF_RANGE',
  ]);
  expect(await refused('locations', good, location({ estimated_square_footage: 10.5 }))).toEqual(['estimated_square_footage INVALID_FORMAT']);
});

test('requires questions and completed to be null together, and an answer’s path to be a JSON pointer', async () => {
  const question = (answer_path: string): Line => ({
    question_id: null,
    answer_path,
    section: 'A',
    label: 'Is it clean?',
    type: 'YES_NO',
    required: true,
    helper_text: null,
    value: 'YES',
    photo_requirement: 'NONE',
    attached_photo_url: null,
  });
  const good = () => formResponse({ completed: true, questions: ['/sections/0/~0a~1b', '', '/'].map(question) });
  expect(await refused('form-responses', good, formResponse({ completed: true }))).toEqual(['questions MISSING']);
  expect(await refused('form-responses', good, formResponse({ questions: [] }))).toEqual(['completed MISSING']);
  expect(await refused('form-responses', good, formResponse({ completed: false, questions: ['sections/0', '/a~2'].map(question) }))).toEqual([
    'questions[0].answer_path INVALID_FORMAT',
    'questions[1].answer_path INVALID_FORMAT',
  ]);
});

test('keeps the recorded duration, and requires null exactly while the entry is running', async () => {
  const ends_at = '2026-03-02T16:30:00Z';
  const good = () => timeEntry({ ends_at, duration_minutes: 75 });
  expect(await refused('time-entries', good, timeEntry({ ends_at: timeEntry()['starts_at'], duration_minutes: 0 }))).toEqual([]);
  expect(await refused('time-entries', good, timeEntry({ ends_at, duration_minutes: null }))).toEqual(['duration_minutes MISSING']);
  expect(await refused('time-entries', good, timeEntry({ duration_minutes: 5 }))).toEqual(['duration_minutes INVALID_FORMAT']);
  const [sheet, entry] = [timesheet(), good()];
  await company.store('timesheets', sheet);
  await company.store('time-entries', { ...entry, timesheet_id: sheet.id });
  expect((await company.detail('time-entries', entry.id)).duration_minutes).toBe(75);
  expect((await company.detail('timesheets', sheet.id)).total_minutes).toBe(75);
});

test('still shows and adds up the duration of an entry stored before durations were recorded', async () => {
  const [sheet, entry] = [timesheet(), timeEntry({ ends_at: '2026-03-02T16:35:00Z', duration_minutes: null })];
  await company.store('timesheets', sheet);
  await company.store('time-entries', { ...entry, timesheet_id: sheet.id, duration_minutes: 1 });
  // Field 11 of the document is the duration: a tag and one byte.
  const text = `update time_entries set document = overlay(document placing ''::bytea from position('\\x5801'::bytea in document) for 2), derived = '\\x585f', duration_minutes = 95 where id = $1`;
  await harness.database.query({ text, values: [entry.id] });
  expect((await company.detail('time-entries', entry.id)).duration_minutes).toBe(95);
  await company.store('time-entries', timeEntry({ timesheet_id: sheet.id, ends_at: '2026-03-02T16:00:00Z' }));
  expect((await company.detail('timesheets', sheet.id)).total_minutes).toBe(155);
});

test.each([
  [59_999_999, 0],
  [60_000_000, 1],
  [119_999_999, 1],
])('an entry of %i µs, stored before durations were recorded, has %i whole minutes', async (ends_at, duration_minutes) => {
  const entry = { id: 'e', record: { starts_at: 0, ends_at, duration_minutes: null } } as Parameters<typeof deriveTimeEntries>[2][number];
  expect(await deriveTimeEntries(undefined as never, '', [entry])).toEqual(new Map([['e', { duration_minutes }]]));
});

test('reports minutes beyond a timesheet’s maximum as an error of the line that adds them', async () => {
  const sheet = timesheet();
  await company.store('timesheets', sheet);
  const entry = (duration_minutes: number): Line => timeEntry({ timesheet_id: sheet.id, ends_at: '2026-03-02T16:00:00Z', duration_minutes });
  const { created, problems } = await company.importLines('time-entries', [entry(2 ** 31 - 11), entry(11), entry(10)]);
  expect({ created, problems }).toMatchObject({
    created: 2,
    problems: [
      { line: 2, field: 'duration_minutes', code: 'OUT_OF_RANGE', message: `With it, total_minutes of timesheets/${sheet.id} would be beyond 2147483647.` },
    ],
  });
  expect((await company.detail('timesheets', sheet.id)).total_minutes).toBe(2 ** 31 - 1);
});

test('takes an assignment’s job from its visit, in whatever order they arrive and whenever the visit changes its job', async () => {
  const [first, second] = [job(), job()];
  const of = visit({ job_id: first.id });
  const assigned = assignment({ appointment_id: of.id });
  const shown = async (): Promise<string[]> => [
    (await company.detail('job-assignments', assigned.id)).job_id,
    (await company.detail('job-appointments', of.id)).assignments[0].job_id,
    ...(await company.list('job-assignments', { job_id: [first.id] })).map(({ id }) => `by first: ${id === assigned.id}`),
  ];
  await company.store('job-assignments', assigned);
  expect((await company.detail('job-assignments', assigned.id)).job_id).toBe(assigned.job_id);
  await company.store('jobs', first, second);
  await company.store('job-appointments', of);
  expect(await shown()).toEqual([first.id, first.id, 'by first: true']);
  await company.store('job-assignments', { ...assigned, job_id: second.id });
  expect(await shown()).toEqual([first.id, first.id, 'by first: true']);
  await company.store('job-appointments', { ...of, job_id: second.id });
  expect(await shown()).toEqual([second.id, second.id]);
});

test('reads records stored before a rule existed unchanged, and finds them with field and reason among all others', async () => {
  const visits = Array.from({ length: 120 }, () => visit());
  const [old, older] = [visits[7]!, contact([channel('EMAIL', 'dana@example.com')])];
  await company.store('job-appointments', ...visits);
  await company.store('contacts', older, contact([channel('MOBILE', '+15125550142')]));
  await company.store('time-entries', timeEntry({ ends_at: '2026-03-02T16:30:00Z' }));
  expect(await company.checked()).toEqual({ count: 123, broken: [] });
  await storedAs('job-appointments', old.id, (record) => ({ ...record, ends_at: record['starts_at'] }));
  await storedAs('contacts', older.id, (record) => ({ ...record, channels: record['channels'].map((each: Line) => ({ ...each, value: 'dana' })) }));
  expect(await company.checked()).toEqual({
    count: 123,
    broken: [`contacts/${older.id} channels[0].value INVALID_FORMAT`, `job-appointments/${old.id} ends_at RANGE_ORDER`].sort(),
  });
  const { starts_at, ends_at } = await company.detail('job-appointments', old.id);
  expect(ends_at).toBe(starts_at);
  expect((await company.list('contacts')).find(({ id }) => id === older.id)!['channels'][0].value).toBe('dana');
  await company.store('contacts', older);
  await company.store('job-appointments', old);
  expect((await company.checked()).broken).toEqual([]);
});

test('reports what an import would do, stores nothing of it, and ignores a message without a batch', async () => {
  const [known, changed, added, bad] = [timesheet(), timesheet(), timesheet(), timesheet({ status: 'NONSENSE' })];
  await company.store('timesheets', known, changed);
  const events = async () => (await harness.database.query({ text: 'select from outbox where company_id = $1', values: [company.id] })).rowCount;
  const before = await events();
  const lines = [known, { ...changed, status: 'APPROVED' }, added, bad].map((record) => Buffer.from(JSON.stringify(record)));
  const requests = async function* () {
    yield { batch: null };
    yield { batch: { company_id: company.id, path: 'timesheets', lines, first_line: 5 } };
  };
  const answers: unknown[] = [];
  for await (const { outcome } of harness.channel.client(ImportServiceService).checkImport(requests())) answers.push(outcome);
  expect(answers).toMatchObject([{ first_line: 5, lines: 4, created: 1, changed: 1, unchanged: 1, problems: [{ line: 8, field: 'status' }] }]);
  expect((await company.list('timesheets')).map(({ id, status }) => [id, status]).sort()).toEqual(
    [known, changed].map(({ id }) => [id, 'TIMESHEET_STATUS_OPEN']).sort(),
  );
  expect(await events()).toBe(before);
});

test('reads at most 100 records at once, of a path that the service owns', async () => {
  const read = (path: string, count: number) =>
    harness.channel.client(RecordReadServiceService).batchGetRecords({
      path,
      keys: Array.from({ length: count }, () => ({ company_id: company.id, time_zone: 'UTC', id: randomUUID() })),
    });
  expect((await read('jobs', 100)).reads).toHaveLength(100);
  await expect(read('jobs', 101)).rejects.toMatchObject({ status: 400, details: [{ field: 'keys', code: 'OUT_OF_RANGE' }] });
  await expect(read('invoices', 1)).rejects.toMatchObject({ status: 400, details: [{ field: 'path', code: 'OUT_OF_RANGE' }] });
});

async function storedAs(path: string, id: string, change: (record: Line) => Line): Promise<void> {
  const { encode, decode } = codec(resource(path).record.typeName);
  const table = path.replaceAll('-', '_');
  const { rows } = await harness.database.query<{ document: Buffer }>({ text: `select document from ${table} where id = $1`, values: [id] });
  const document = Buffer.from(encode(change(decode(rows[0]!.document) as Line)).finish());
  await harness.database.query({ text: `update ${table} set document = $2 where id = $1`, values: [id, document] });
}
