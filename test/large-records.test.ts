// Records as large as an import accepts: every read of them ends early or is bounded by the record (decisions §14, §17).
import { randomUUID } from 'node:crypto';
import { resource } from '@truckroll/contract';
import { RecordReadServiceService } from '@truckroll/contract/gen/records/v1/record_reads';
import { generateCompany } from '@truckroll/demo-company';
import { until } from '@truckroll/testing/until';
import { LARGEST_RECORD, LARGE_TOGETHER } from '../packages/record-store/src/large.ts';
import { untilFollowed } from './support/read-models.ts';
import { startSystem, type System, type TestCompany } from './support/system.ts';

type Json = Record<string, any>;
const PAGE = 8_000_000;
const FEED_PAGE = 4_000_000;
/** Maximum size of the rest of an answer, without its records. */
const ENVELOPE = 2000;

let system: System;
let company: TestCompany;
const samples = new Map<string, Json>();

beforeAll(async () => {
  system = await startSystem();
  company = await system.createCompany('America/Chicago');
  for (const { path, records } of generateCompany({ seed: 7, size: 'small', timezone: 'America/Chicago', until: '2026-11-20T18:00:00Z' })) {
    for (const record of records as Iterable<Json>) if (!samples.has(path) || record['questions']?.length > 0) samples.set(path, record);
  }
  await load('form-responses', 60, (form) => ({ ...form, questions: [question({ value: 'x'.repeat(200_000) })] }));
  await load('invoices', 40, (invoice) => {
    const lines = invoice['line_items'] as [Json];
    const free = { ...lines[0], description: 'x"'.repeat(400), unit_price_cents: 0, subtotal_cents: 0 };
    return { ...invoice, line_items: [...lines, ...Array.from({ length: 300 }, () => ({ ...free, id: randomUUID() }))] };
  });
}, 120_000);
afterAll(() => system.stop());

const question = (more: Json): Json => ({ ...(samples.get('form-responses')!['questions'] as Json[])[0]!, ...more });

async function load(path: string, count: number, of: (sample: Json) => Json): Promise<Json[]> {
  const records = Array.from({ length: count }, () => ({ ...of(samples.get(path)!), id: randomUUID() }));
  // A few lines at a time, as the command sends them.
  const together = Math.max(1, Math.floor(3_000_000 / JSON.stringify(records[0]).length));
  for (let at = 0; at < count; at += together) {
    const some = records.slice(at, at + together);
    const { created, problems } = await system.importRecords(company, path, some);
    expect({ path, created, problems: problems.slice(0, 2) }).toEqual({ path, created: some.length, problems: [] });
  }
  return records;
}

/** Reads all pages of records, or of these ids. Returns their sizes in bytes and the records. */
async function pagesOf(path: string, ids: readonly string[] = []): Promise<{ sizes: number[]; counts: number[]; records: Json[] }> {
  const [sizes, counts, records]: [number[], number[], Json[]] = [[], [], []];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { status, text } = await get(`/v1/${path}?limit=100${ids.map((id) => `&ids=${id}`).join('')}${cursor === '' ? '' : `&cursor=${cursor}`}`);
    const body = JSON.parse(text) as Json;
    expect([status, body['error']]).toEqual([200, undefined]);
    sizes.push(Buffer.byteLength(text));
    counts.push(body['data'].length);
    records.push(...body['data']);
    cursor = body['pagination'].next_cursor;
  }
  return { sizes, counts, records };
}

/** Reads all changes of these kinds, in pages of at most 4 MB unless it is one record. */
async function feedOf(...kinds: string[]): Promise<Json[]> {
  const changes: Json[] = [];
  for (let [cursor, more] = ['', true]; more; ) {
    const { status, text } = await get(`/api/v1/integrations/changes?limit=1000${kinds.map((kind) => `&kinds=${kind}`).join('')}${cursor}`);
    expect(status).toBe(200);
    const body = JSON.parse(text) as Json;
    if (body['data'].length > 1) expect(Buffer.byteLength(text)).toBeLessThanOrEqual(FEED_PAGE + ENVELOPE);
    changes.push(...body['data']);
    [cursor, more] = [`&cursor=${body['nextCursor']}`, body['hasMore']];
  }
  return changes;
}

async function get(path: string): Promise<{ status: number; text: string; retryAfter: string | null }> {
  const response = await fetch(`${system.baseUrl}${path}`, { headers: { authorization: `Bearer ${company.apiKey}` } });
  return { status: response.status, text: await response.text(), retryAfter: response.headers.get('retry-after') };
}

describe.each([
  ['form-responses', 60],
  ['invoices', 40],
])('a list of %s', (path, count) => {
  test('ends its pages at 8 MB, and its cursors lead to every record once', async () => {
    const { sizes, counts, records } = await pagesOf(path);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(PAGE + ENVELOPE);
    expect(sizes.length).toBeLessThanOrEqual(2 + Math.ceil(sizes.reduce((sum, size) => sum + size, 0) / (PAGE * 0.9)));
    expect(Math.min(...counts)).toBeGreaterThan(0);
    expect([records.length, new Set(records.map(({ id }) => id)).size]).toEqual([count, count]);
  });
});

test('reads large pages that are requested at the same time, a few at a time', async () => {
  for (let round = 0; round < 3; round++) {
    const answers = await Promise.all(Array.from({ length: LARGE_TOGETHER + 1 }, () => get('/v1/form-responses?limit=100')));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  }
});

test('reads large records that are requested at the same time', async () => {
  const { records } = await pagesOf('form-responses');
  const answers = await Promise.all(records.slice(0, 64).map(({ id }) => get(`/v1/form-responses/${id}`)));
  expect(answers.map(({ status, text }) => [status, JSON.parse(text).data])).toEqual(records.slice(0, 64).map((record) => [200, record]));
});

test('leaves large records out of a batch, for their own rpc', async () => {
  const { records } = await pagesOf('form-responses');
  const [small] = await load('form-responses', 1, (form) => form);
  const keyOf = ({ id }: Json) => ({ company_id: company.id, time_zone: 'UTC', id: id as string });
  const keys = [records[0]!, small!, { id: randomUUID() }].map(keyOf);
  const { reads } = await system.channel(resource('form-responses').owner).client(RecordReadServiceService).batchGetRecords({ path: 'form-responses', keys });
  expect(reads.map(({ data, alone }) => [data != null, alone === true])).toEqual([
    [false, true],
    [true, false],
    [false, false],
  ]);
});

test('reads the largest record that an import accepts, by id, in a list and in the feed', async () => {
  const largest = (form: Json): Json => ({ ...form, questions: [question({ value: 'x'.repeat(LARGEST_RECORD - 1000) })] });
  const loaded = await load('form-responses', 4, largest);
  const own = loaded.map(({ id }) => id as string);
  for (const id of own) expect((await get(`/v1/form-responses/${id}`)).status).toBe(200);
  const { sizes, records } = await pagesOf('form-responses', own);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(PAGE + ENVELOPE);
  expect(records.map(({ id }) => id).toSorted()).toEqual(own.toSorted());
  const changes = (await feedOf('form-responses')).filter(({ id }) => own.includes(id as string));
  expect(changes.map(({ id, record }) => [id, record.questions[0].value.length])).toEqual(own.map((id) => [id, LARGEST_RECORD - 1000]));
});

test('ends a page at 8 MB of JSON if the JSON is several times the stored size', async () => {
  const bare = question({ section: '', label: '', type: '', photo_requirement: '', helper_text: null, value: null, question_id: null });
  const loaded = await load('form-responses', 6, (form) => ({ ...form, questions: Array.from({ length: 9000 }, () => bare) }));
  const { sizes } = await pagesOf(
    'form-responses',
    loaded.map(({ id }) => id as string),
  );
  expect(sizes.length).toBeGreaterThan(1);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(PAGE + ENVELOPE);
});

test('reads a record with more names than a message of gRPC holds', async () => {
  const tags = await load('tags', 20, (tag) => ({ ...tag, name: 'n'.repeat(1000) }));
  const many = Array.from({ length: 30_000 }, (_, index) => ({ id: tags[index % tags.length]!['id'], name: 'n' }));
  const [{ id }] = (await load('accounts', 1, (account) => ({ ...account, tags: many }))) as [Json];
  const { status, text } = await get(`/v1/accounts/${id}`);
  expect([status, JSON.parse(text).data?.tags.length]).toEqual([200, many.length]);
});

test('reads the financials of a job whose invoices have more than 4 MiB together, and those after them', async () => {
  const jobs = (await load('jobs', 2, (job) => job)).map(({ id }) => id as string);
  const own = await load('invoices', 6, (invoice) => ({ ...invoice, job_id: jobs[0], number: 'n'.repeat(1_000_000), status: 'OPEN' }));
  const revenue = own.reduce((sum, { amounts }) => sum + amounts.subtotal_cents, 0);
  await untilFollowed(system, company);
  const { status, text } = await get(`/v1/job-financials/${jobs[0]}`);
  expect([status, JSON.parse(text).data]).toMatchObject([200, { invoices: { length: 4 }, omitted_invoices: 2, totals: { revenue_cents: revenue } }]);
  expect((await pagesOf('job-financials', jobs)).records.map(({ id }) => id).toSorted()).toEqual(jobs.toSorted());
  expect((await feedOf('job-financials')).map(({ id }) => id)).toEqual(expect.arrayContaining(jobs));
});

test('ends pages of the feed at 4 MB of JSON, and its cursors lead to every record once', async () => {
  const listed = [...(await pagesOf('invoices')).records, ...(await pagesOf('accounts')).records].map(({ id }) => id as string);
  // A transaction of another test, in the same server, holds the feed back.
  const seen = await until(
    'the feed to have every record',
    () => feedOf('invoices', 'accounts'),
    ({ length }) => length >= listed.length,
  );
  expect(seen.map(({ id }) => id as string).toSorted()).toEqual(listed.toSorted());
});
