// Derived fields through the HTTP API, compared with an oracle that computes them independently from the imported lines.
import fc from 'fast-check';
import { resource } from '@truckroll/contract';
import { until } from '@truckroll/testing/until';
import { addDays, firstMillisecond, localDate } from '../reports/oracle/dates.ts';
import { readAll } from '../reports/oracle/records.ts';
import { demoLines } from '../support/demo.ts';
import type { Json } from '../support/expected.ts';
import { untilFollowed } from '../support/read-models.ts';
import { startSystem, type System, type TestCompany } from '../support/system.ts';
import { corrections } from './changes.ts';
import { agingOf, DERIVED_PATHS, derivedOf, type World } from './oracle.ts';

/** `DERIVED_COMPANIES=100 npm test -- test/derived` compares more. A seed determines a company. */
const COMPANIES = Number(process.env['DERIVED_COMPANIES'] ?? 2);
const SEED = Number(process.env['DERIVED_SEED'] ?? Math.floor(Math.random() * 1_000_000));
/** UTC, zones on both sides of it, half-hour offsets, and daylight-saving time in both hemispheres. */
const ZONES = ['America/Chicago', 'Pacific/Kiritimati', 'Pacific/Pago_Pago', 'Asia/Kathmandu', 'Australia/Lord_Howe', 'UTC'];

let system: System;
beforeAll(async () => {
  system = await startSystem();
}, 120_000);
afterAll(() => system.stop());

async function imported(company: TestCompany, world: World, all: Iterable<[string, Json[]]>): Promise<void> {
  for (const [path, lines] of all) {
    expect([path, (await system.importRecords(company, path, lines)).problems]).toEqual([path, []]);
    const stored = (world.lines[path] ??= new Map());
    for (const line of lines) stored.set(line['id'], line);
  }
}

async function demoCompany(seed: number, timezone: string): Promise<{ company: TestCompany; world: World }> {
  const company = await system.createCompany(timezone);
  const world: World = { timezone, lines: {} };
  await imported(company, world, demoLines({ seed, size: 25, timezone, until: '2026-03-10T16:00:00Z' }));
  return { company, world };
}

/**
 * Compares every record that has derived fields. Aging is compared within one local day.
 * Names of other services' records arrive by other events, so a list is read again until it shows these names.
 */
async function compare(company: TestCompany, world: World): Promise<void> {
  await untilFollowed(system, company);
  for (const path of DERIVED_PATHS) {
    await until(
      `${path} as the oracle computes them`,
      async () => {
        const [records, at] = await readWithinOneDay(company, world.timezone, path);
        expect([path, records.length]).toEqual([path, world.lines[path]!.size]);
        return records.flatMap((record) => {
          const expected = derivedOf(path, world.lines[path]!.get(record['id']) as Json, world, at);
          const shown = Object.fromEntries(Object.keys(expected).map((name) => [name, record[name]]));
          return difference({ id: record['id'], ...shown }, { id: record['id'], ...expected });
        });
      },
      ({ length }) => length === 0,
    );
  }
}

function difference(shown: Json, expected: Json): string[] {
  try {
    expect(shown).toEqual(expected);
    return [];
  } catch (error) {
    return [(error as Error).message];
  }
}

async function readWithinOneDay(company: TestCompany, timezone: string, path: string): Promise<[Json[], number]> {
  for (;;) {
    const before = Date.now();
    const records = await readAll(system, company, `/v1/${path}?limit=100`);
    const [first, last] = [before, Date.now()].map((ms) => localDate(new Date(ms).toISOString(), timezone));
    if (first === last) return [records, before];
  }
}

test(
  'shows derived fields as the oracle computes them, before and after corrections in any order',
  async () => {
    for (let seed = SEED; seed < SEED + COMPANIES; seed++) {
      try {
        const { company, world } = await demoCompany(seed, ZONES[seed % ZONES.length] as string);
        await compare(company, world);
        for (const round of [1, 2]) {
          const [changed] = fc.sample(corrections(world), { seed: seed * round, numRuns: 1 });
          await imported(company, world, changed as [string, Json[]][]);
          await compare(company, world);
        }
      } catch (error) {
        throw new Error(`DERIVED_SEED=${seed} DERIVED_COMPANIES=1 npm test -- test/derived shows it again: ${String(error)}`, { cause: error });
      }
    }
  },
  120_000 + COMPANIES * 20_000,
);

test.each(ZONES)('counts days past due by the calendar in %s, at both ends of every local day around every bucket', async (timezone) => {
  const company = await system.createCompany(timezone);
  const [template] = new Map(demoLines({ seed: 1, size: 25, timezone, until: '2026-03-10T16:00:00Z' })).get('invoices')!;
  const today = localDate(new Date().toISOString(), timezone);
  // Reaches half a year back, to include a day of 23 or 25 hours.
  const days = Array.from({ length: 200 }, (_, n) => addDays(today, 3 - n));
  const due = [null, ...days.flatMap((day) => bothEnds(day, timezone))];
  const lines = due.map((due_at, n) => ({ ...template, id: idOf(n), number: `A${n}`, status: 'OPEN', due_at }));
  expect((await system.importRecords(company, 'invoices', lines)).problems).toEqual([]);
  const [records, at] = await readWithinOneDay(company, timezone, 'invoices');
  expect(records.map(({ id, aging }) => [id, aging])).toEqual(lines.map(({ id, due_at }) => [id, agingOf(due_at, timezone, at)]));
  const buckets = new Set(records.map(({ aging }) => aging.bucket));
  expect([...buckets].sort()).toEqual(['CURRENT', 'PAST_DUE_1_30', 'PAST_DUE_31_60', 'PAST_DUE_61_90', 'PAST_DUE_91_PLUS']);
});

function bothEnds(day: string, timezone: string): [string, string] {
  const first = firstMillisecond(day, timezone);
  const next = firstMillisecond(addDays(day, 1), timezone);
  return [new Date(first).toISOString(), new Date(next - 1).toISOString().replace('Z', '999Z')];
}

const idOf = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;

describe('the revision of a visit', () => {
  let world: World;
  let company: TestCompany;
  let visit: Json;
  let assignment: Json;
  beforeAll(async () => {
    ({ company, world } = await demoCompany(3, 'America/Chicago'));
    assignment = [...world.lines['job-assignments']!.values()][0] as Json;
    visit = world.lines['job-appointments']!.get(assignment['appointment_id']) as Json;
  });
  const revision = async (of: TestCompany): Promise<string> => (await system.get(of, `/v1/job-appointments/${visit['id']}`)).body.data.revision;
  const unknown = { id: '0b5cf9b0-5a3c-4a57-9d43-1f2a3b4c5d6e', name: 'Unknown' };
  const next = (at: string): string => new Date(Date.parse(at) + 1000).toISOString();

  test('is the same in a company that imports the same visit, even with other names in its records', async () => {
    const { company: other } = await demoCompany(3, 'America/Chicago');
    const renamed = [...world.lines['team-members']!.values()].map((line) => ({ ...line, name: `${line['name']} II` }));
    await system.importRecords(other, 'team-members', renamed);
    expect(await revision(company)).toMatch(/^[0-9a-f]{64}$/);
    expect(await revision(other)).toBe(await revision(company));
  });

  test('does not change when the job changes', async () => {
    const before = await revision(company);
    const job = world.lines['jobs']!.get(visit['job_id']) as Json;
    await imported(company, world, [['jobs', [{ ...job, summary: 'Something else', priority: 'LOW' }]]]);
    expect(await revision(company)).toBe(before);
  });

  const columns: [string, (line: Json) => unknown][] = [
    ['number', () => 'X-1'],
    ['job_id', () => [...world.lines['jobs']!.keys()].find((id) => id !== visit['job_id'])],
    ['type', () => 'Another type'],
    ['description', () => 'Another description'],
    ['window_start_at', (line) => new Date(Date.parse(line['window_start_at']) - 1000).toISOString()],
    ['window_end_at', (line) => next(line['window_end_at'])],
    ['confirmed', (line) => !line['confirmed']],
    ['canceled', (line) => !line['canceled']],
    ['cancellation_reason', () => 'ANOTHER_REASON'],
    ['cancellation_note', () => 'Another note'],
    ['created_by', () => unknown],
    ['created_at', (line) => next(line['created_at'])],
    ['updated_at', (line) => next(line['updated_at'])],
    ['kind', () => 'ANOTHER_KIND'],
    ['starts_at', (line) => next(line['starts_at'])],
    ['ends_at', (line) => next(line['ends_at'])],
  ];
  test.each(columns)('changes with the visit’s %s', async (name, value) => {
    const before = await revision(company);
    await imported(company, world, [['job-appointments', [{ ...visit, [name]: value(visit) }]]]);
    expect(await revision(company)).not.toBe(before);
    await imported(company, world, [['job-appointments', [visit]]]);
    expect(await revision(company)).toBe(before);
  });

  const assignmentColumns: [string, (line: Json) => unknown][] = [
    ['team_member', () => unknown],
    ['starts_at', (line) => next(line['starts_at'])],
    ['ends_at', (line) => next(line['ends_at'])],
    ['status', (line) => (line['status'] === 'PAUSED' ? 'TO_DO' : 'PAUSED')],
    ['status_updated_at', (line) => next(line['status_updated_at'])],
    ['created_at', (line) => next(line['created_at'])],
    ['updated_at', (line) => next(line['updated_at'] ?? line['created_at'])],
  ];
  test.each(assignmentColumns)('changes with an assignment’s %s', async (name, value) => {
    const before = await revision(company);
    await imported(company, world, [['job-assignments', [{ ...assignment, [name]: value(assignment) }]]]);
    expect(await revision(company)).not.toBe(before);
    await imported(company, world, [['job-assignments', [assignment]]]);
    expect(await revision(company)).toBe(before);
  });

  test('covers every recorded column of a visit and of an assignment', () => {
    const recorded = (path: string): string[] =>
      resource(path)
        .record.fields.filter(({ derived }) => !derived)
        .map(({ name }) => name);
    // `job` belongs to the job, and ids only identify the record.
    expect(['id', 'job', ...columns.map(([name]) => name)].sort()).toEqual(recorded('job-appointments').sort());
    expect(['id', 'job_id', 'appointment_id', ...assignmentColumns.map(([name]) => name)].sort()).toEqual(recorded('job-assignments').sort());
  });
});
