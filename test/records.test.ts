// Rules that hold for every record, tested for each record of the contract: import, list, detail, filters, paging, strictness.
import { codec, resources, type Parameter, type Resource } from '@truckroll/contract';
import { RecordReadServiceService } from '@truckroll/contract/gen/records/v1/record_reads';
import { untilFollowed } from './support/read-models.ts';
import { OWN_RULES, inOrder, recorded, searchedTexts, valuesAt, type Everything, type Json } from './support/expected.ts';
import { violations } from './support/openapi.ts';
import { startSystem, type System, type TestCompany } from './support/system.ts';

const TIMEZONE = 'America/Chicago';
const CALENDAR = new Intl.DateTimeFormat('en-CA', { timeZone: TIMEZONE, dateStyle: 'short' });
const MINUTES = 60_000;
let system: System;
let company: TestCompany;
let stranger: TestCompany;
let lines: Everything;
const read: Everything = {};

beforeAll(async () => {
  system = await startSystem();
  company = await system.createCompany(TIMEZONE);
  stranger = await system.createCompany('Asia/Kathmandu');
  lines = await system.importDemo(company, 7, 120);
  // Financials depend on the records that reporting has received by then.
  await untilFollowed(system, company);
  for (const { path } of resources) read[path] = await whole(company, path, 100);
}, 5 * MINUTES);

afterAll(() => system.stop());

async function whole(of: TestCompany, path: string, limit: number, filter = ''): Promise<Json[]> {
  const all: Json[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const at = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const { status, body } = await system.get(of, `/v1/${path}?limit=${limit}${filter}${at}`);
    expect({ status, error: body.error }).toEqual({ status: 200, error: undefined });
    expect(body.data.length).toBeLessThanOrEqual(limit);
    all.push(...body.data);
    cursor = body.pagination.next_cursor;
  }
  return all;
}

const code = async (path: string, of = company): Promise<unknown[]> => {
  const { status, body } = await system.get(of, path);
  return [status, body.error?.code, body.error?.details?.[0]?.code];
};

describe.each(resources.map((of) => [of.path, of] as const))('%s', (path, of) => {
  const hasLines = (): boolean => path !== 'job-classes';

  test('reads back every imported line, in the fixed order', () => {
    if (!hasLines()) return expect(read[path]?.length).toBe(9);
    const expected = inOrder(of, lines[path]!);
    expect(read[path]!.map((record) => record['id'])).toEqual(expected.map((record) => record['id']));
    expect(read[path]!.map((record) => recorded(of.record, record))).toEqual(expected.map((record) => recorded(of.record, overridden(path, record))));
  });

  test('answers with bodies that match the OpenAPI description', async () => {
    const page = await system.get(company, `/v1/${path}?limit=100`);
    const detail = await system.get(company, `/v1/${path}/${read[path]![0]!['id']}`);
    expect(violations('get', `/v1/${path}`, 200, page.body)).toEqual([]);
    expect(violations('get', `/v1/${path}/{id}`, 200, detail.body)).toEqual([]);
    const refused = await system.get(company, `/v1/${path}?limit=0&nonsense=1`);
    expect(violations('get', `/v1/${path}`, 400, refused.body)).toEqual([]);
  });

  test('reads the same record by id as in the list', async () => {
    for (const record of sample(read[path]!, 5)) {
      const { status, body } = await system.get(company, `/v1/${path}/${String(record['id']).toUpperCase()}`);
      expect([status, body.data]).toEqual([200, record]);
    }
  });

  test('reads the same record in a batch, with those of any or no company, as alone', async () => {
    const channel = system.channel(of.owner);
    const keyOf = ({ id: companyId, timezone }: TestCompany, id: unknown) => ({ company_id: companyId, time_zone: timezone, id: id as string });
    const own = sample(read[path]!, 20).map(({ id }) => keyOf(company, id));
    const others = hasLines() ? [keyOf(stranger, own[0]!.id), keyOf(company, '00000000-0000-4000-8000-000000000000')] : [];
    const keys = [...others, ...own.toReversed()];
    const { reads } = await channel.client(RecordReadServiceService).batchGetRecords({ path, keys });
    const { request, response, rpc } = of.detail;
    const alone = keys.slice(others.length).map(async (key) => {
      const bytes = await channel.call(rpc, Buffer.from(codec(request.typeName).encode({ key }).finish()));
      return codec(response.typeName).decode(bytes);
    });
    const together = reads.slice(others.length).map(({ data }) => ({ data: codec(of.record.typeName).decode(data ?? new Uint8Array()) }));
    expect(reads.slice(0, others.length)).toEqual(others.map(() => ({ data: null, alone: null })));
    expect(together).toEqual(await Promise.all(alone));
  });

  test('returns the same records at any page size', async () => {
    for (const limit of [7, 50]) expect(await whole(company, path, limit)).toEqual(read[path]);
  });

  test('changes nothing when the same lines are imported again', async () => {
    if (!hasLines()) return;
    const { created, changed, unchanged } = await system.importRecords(company, path, lines[path]!);
    expect({ created, changed, unchanged }).toEqual({ created: 0, changed: 0, unchanged: lines[path]!.length });
  });

  test('hides records from another company: a foreign id gets the same 404 as a missing one', async () => {
    if (!hasLines()) return;
    const id = read[path]![0]!['id'];
    expect(await whole(stranger, path, 100)).toEqual([]);
    expect((await system.get(stranger, `/v1/${path}?ids=${id}`)).body.data).toEqual([]);
    expect(await code(`/v1/${path}/${id}`, stranger)).toEqual([404, 'NOT_FOUND', undefined]);
    expect(await code(`/v1/${path}/00000000-0000-4000-8000-000000000000`, stranger)).toEqual([404, 'NOT_FOUND', undefined]);
  });

  test('rejects unknown parameters, repeated scalars, empty values and limits out of range', async () => {
    expect(await code(`/v1/${path}?nonsense=1`)).toEqual([400, 'INVALID_REQUEST', 'UNKNOWN_PARAMETER']);
    expect(await code(`/v1/${path}?limit=1&limit=2`)).toEqual([400, 'INVALID_REQUEST', 'REPEATED_PARAMETER']);
    expect(await code(`/v1/${path}?limit=`)).toEqual([400, 'INVALID_REQUEST', 'EMPTY_VALUE']);
    expect(await code(`/v1/${path}?limit=0`)).toEqual([400, 'INVALID_REQUEST', 'OUT_OF_RANGE']);
    expect(await code(`/v1/${path}?limit=101`)).toEqual([400, 'INVALID_REQUEST', 'OUT_OF_RANGE']);
    expect((await code(`/v1/${path}?cursor=abc`)).slice(0, 2)).toEqual([400, 'INVALID_CURSOR']);
  });

  test('accepts a cursor only for its own company, route and filters, and not when a character is altered', async () => {
    const { next_cursor: cursor } = (await system.get(company, `/v1/${path}?limit=1`)).body.pagination as { next_cursor: string };
    const refused = [400, 'INVALID_CURSOR'];
    const other = path === 'invoices' ? 'payments' : 'invoices';
    const at = Math.floor(cursor.length / 2);
    const altered = `${cursor.slice(0, at)}${cursor[at] === 'A' ? 'B' : 'A'}${cursor.slice(at + 1)}`;
    expect((await code(`/v1/${path}?cursor=${cursor}`, stranger)).slice(0, 2)).toEqual(refused);
    expect((await code(`/v1/${other}?cursor=${cursor}`)).slice(0, 2)).toEqual(refused);
    expect((await code(`/v1/${path}?cursor=${altered}`)).slice(0, 2)).toEqual(refused);
    expect((await code(`/v1/${path}?cursor=${cursor}&ids=${read[path]![0]!['id']}`)).slice(0, 2)).toEqual(refused);
  });

  const filters = of.list.parameters.filter(({ filter }) => filter !== undefined);
  test.each(filters.map((parameter) => [parameter.name, parameter] as const))('filters by %s', async (name, parameter) => {
    for (const [query, matches] of cases(of, parameter)) {
      const expected = read[path]!.filter(matches).map((record) => record['id']);
      const found = (await whole(company, path, 100, `&${query}`)).map((record) => record['id']);
      expect({ query, found }).toEqual({ query, found: expected });
      expect({ query, any: expected.length > 0 || path === 'job-classes' }).toEqual({ query, any: true });
    }
  });

  const pairs = filters.flatMap((one, index) => filters.slice(index + 1).map((other) => [one.name, other.name] as const));
  test('returns only records that match both of two filters', async () => {
    const choices = new Map(filters.map((parameter) => [parameter.name, choicesOf(read[path]!, cases(of, parameter))]));
    for (const [one, other] of pairs.filter(([first, second]) => sides(first) !== sides(second))) {
      const [first, second] = distinguishing(choices.get(one)!, choices.get(other)!);
      const expected = read[path]!.filter((record) => first.matching.has(record) && second.matching.has(record)).map((record) => record['id']);
      const found = (await whole(company, path, 100, `&${first.query}&${second.query}`)).map((record) => record['id']);
      expect({ first: first.query, second: second.query, found }).toEqual({ first: first.query, second: second.query, found: expected });
    }
  });
});

/** The two bounds of a range have the same one, and might leave nothing between them. */
const sides = (name: string): string => name.replace(/_(from|before)$/, '');

interface Choice {
  query: string;
  matching: Set<Json>;
}

function choicesOf(records: readonly Json[], all: Case[]): Choice[] {
  return all.map(([query, matches]) => ({ query, matching: new Set(records.filter(matches)) }));
}

/** Number of the first records that are not among the others. */
const without = (first: ReadonlySet<Json>, others: ReadonlySet<Json>): number => [...first].filter((each) => !others.has(each)).length;

/** A choice of each filter, such that each of the two excludes as many as possible of the records that match the other. */
function distinguishing(ones: Choice[], others: Choice[]): [Choice, Choice] {
  const excluded = ([one, other]: [Choice, Choice]): number => Math.min(without(one.matching, other.matching), without(other.matching, one.matching));
  return ones.flatMap((one) => others.map((other): [Choice, Choice] => [one, other])).reduce((best, pair) => (excluded(pair) > excluded(best) ? pair : best));
}

/** Once a job has arrived, its own values replace those in the lines of its visits and financials. */
function overridden(path: string, record: Json): Json {
  const own = read[path]!.find(({ id }) => id === record['id'])!;
  const followed: Record<string, string[]> = {
    'job-appointments': ['job'],
    'job-financials': ['number', 'account', 'location_id', 'business_unit', 'job_type', 'job_class', 'created_at', 'report_date', 'report_date_basis'],
    jobs: ['status'],
    'job-leads': ['status'],
  };
  return { ...record, ...Object.fromEntries((followed[path] ?? []).map((name) => [name, own[name]])) };
}

type Case = [query: string, matches: (record: Json) => boolean];

function cases(of: Resource, { name, filter, field }: Parameter): Case[] {
  const rule = OWN_RULES[`${of.path}.${name}`];
  const at = filter!.field;
  const records = read[of.path]!;
  if (field.kind === 'boolean') {
    return [true, false].map((value) => [`${name}=${value}`, (record) => (rule ? rule(record, value, read) : valuesAt(record, at).includes(value))]);
  }
  if (filter!.comparison === 'missing') return missing(of, name, [...field.enum!.spellings.values()]);
  if (filter!.comparison === 'search') return searches(of);
  if (filter!.comparison === 'phone' || filter!.comparison === 'email') return channels(of, name, filter!.comparison);
  if (field.kind === 'cents') return [1, 10_000].map((value): Case => [`${name}=${value}`, (record) => rule!(record, value, read)]);
  if (filter!.comparison !== 'any') return bounds(of, name, at, field.kind, filter!.comparison);
  const values = rule ? candidates(of, name) : [...new Set(records.flatMap((record) => valuesAt(record, at)))];
  const matches = (wanted: unknown[]) => (record: Json) => wanted.some((value) => (rule ? rule(record, value, read) : valuesAt(record, at).includes(value)));
  const one = sample(values, 2).map((value): Case => [`${name}=${encodeURIComponent(String(value))}`, matches([value])]);
  if (!field.repeated || values.length < 2) return one;
  const several = sample(values, 3);
  return [...one, [several.map((value) => `${name}=${encodeURIComponent(String(value))}`).join('&'), matches(several)]];
}

function missing(of: Resource, name: string, fields: readonly string[]): Case[] {
  const lacking = fields.filter((field) => read[of.path]!.some((record) => record[field] === null));
  const one = lacking.map((field): Case => [`${name}=${field}`, (record) => record[field] === null]);
  return [...one, [fields.map((field) => `${name}=${field}`).join('&'), (record) => fields.some((field) => record[field] === null)]];
}

/** Searches for the first words of a few records. */
function searches({ path }: Resource): Case[] {
  const records = read[path]!;
  const wordsOf = (record: Json): string[] =>
    searchedTexts(path, record).flatMap(
      (text) =>
        text
          .normalize('NFD')
          .replace(/\p{M}/gu, '')
          .toLowerCase()
          .match(/[\p{L}\p{N}]+/gu) ?? [],
    );
  return sample(records, 3).map((record): Case => {
    const asked = wordsOf(record).slice(0, 2);
    const matches = (other: Json): boolean => asked.every((word) => wordsOf(other).some((own) => own.startsWith(word)));
    return [`search=${encodeURIComponent(asked.join(' ').slice(0, 100))}`, matches];
  });
}

function channels({ path }: Resource, name: string, comparison: 'phone' | 'email'): Case[] {
  const valuesOf = (record: Json): string[] => {
    const all = path === 'contacts' ? valuesAt(record, 'channels.value') : valuesAt(record, comparison);
    return (all as string[]).filter((value) => value.includes('@') === (comparison === 'email'));
  };
  const spelled = (value: string): string => (comparison === 'email' ? value.toUpperCase() : value.replace(/^\+1(...)(...)/, '($1) $2-'));
  const values = sample([...new Set(read[path]!.flatMap(valuesOf))], 2);
  const one = values.map((value): Case => [`${name}=${encodeURIComponent(spelled(value))}`, (record) => valuesOf(record).includes(value)]);
  return [...one, [one.map(([query]) => query).join('&'), (record) => valuesOf(record).some((value) => values.includes(value))]];
}

function candidates(of: Resource, name: string): unknown[] {
  const from: Record<string, unknown[]> = {
    'accounts.location_id': read['locations']!.filter(({ accounts }) => accounts.length > 0).map(({ id }) => id),
    'jobs.team_member_id': read['job-assignments']!.map(({ team_member }) => team_member.id),
    'form-responses.job_class': read['form-responses']!.flatMap(({ job_id }) => read['jobs']!.find(({ id }) => id === job_id)?.['job_class'] ?? []),
  };
  return [...new Set(from[`${of.path}.${name}`])];
}

function bounds(of: Resource, name: string, at: string, kind: string, comparison: 'from' | 'before'): Case[] {
  const dated = at !== '' ? at : undefined;
  const valuesOf = (record: Json): string[] =>
    (dated === undefined ? ['manufacturer_warranty_ends_on', 'labor_warranty_ends_on'].map((end) => record[end]) : valuesAt(record, dated)).filter(
      (value): value is string => value != null,
    );
  const all = read[of.path]!.flatMap(valuesOf).sort();
  const middle = all[Math.floor(all.length / 2)];
  if (middle === undefined) throw new Error(`${of.path} has no value to filter ${name} by`);
  // When half of the records share the first value, only a later bound leaves records before it.
  const splitting = comparison === 'from' || middle > all[0]! ? middle : kind === 'timestamp' ? '2100-01-01T00:00:00Z' : '2100-01-01';
  const bound = kind === 'local_date' && splitting.includes('T') ? localDate(splitting) : splitting;
  const inside = (value: string): boolean => {
    const compared = kind === 'local_date' ? localDate(value) : value;
    return comparison === 'from' ? instantKey(compared) >= instantKey(bound) : instantKey(compared) < instantKey(bound);
  };
  return [[`${name}=${encodeURIComponent(bound)}`, (record) => valuesOf(record).some(inside)]];
}

/** Makes both spellings of an instant comparable as text. */
function instantKey(text: string): string {
  if (!text.includes('T')) return text;
  const [seconds, fraction = ''] = text.replace('Z', '').split('.');
  return `${seconds}.${fraction.padEnd(6, '0')}`;
}

function localDate(instant: string): string {
  return CALENDAR.format(new Date(instant));
}

function sample<T>(values: readonly T[], count: number): T[] {
  const step = Math.max(1, Math.floor(values.length / count));
  return values.filter((_, index) => index % step === 0).slice(0, count);
}
