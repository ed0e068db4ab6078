// Two companies whose records have the same ids: neither sees the other's data in any list, filter, detail or report.
import type { Json } from '../support/expected.ts';
import { untilFollowed } from '../support/read-models.ts';
import { startSystem, type System, type TestCompany } from '../support/system.ts';
import { fresh } from '../reports/ask.ts';
import { readAll } from '../reports/oracle/records.ts';
import { DERIVED_PATHS, derivedOf, type World } from '../derived/oracle.ts';
import { addressesOf, answersOf } from './everything.ts';
import { valuesOf, type Lines } from './values.ts';

const TIMEZONE = 'America/Chicago';
let system: System;
let one: TestCompany;
let other: TestCompany;
let addresses: string[];
const worlds = new Map<TestCompany, World>();

async function load(company: TestCompany, lines: Lines): Promise<void> {
  const world: World = { timezone: TIMEZONE, lines: {} };
  for (const [path, some] of lines) {
    expect([path, (await system.importRecords(company, path, some)).problems]).toEqual([path, []]);
    world.lines[path] = new Map(some.map((line) => [line['id'], line]));
  }
  worlds.set(company, world);
  await untilFollowed(system, company);
  await fresh(system, company);
}

beforeAll(async () => {
  system = await startSystem();
  [one, other] = [await system.createCompany(TIMEZONE), await system.createCompany(TIMEZONE)];
  const [first, second] = [new Map(valuesOf(1, TIMEZONE)), new Map(valuesOf(2, TIMEZONE))];
  const both = new Map([...first.keys()].map((path) => [path, [...first.get(path)!, ...(second.get(path) ?? [])]]));
  addresses = [...new Set(addressesOf(both))];
}, 120_000);
afterAll(() => system.stop());

test('reads the same before and after another company imports other values under the same ids', async () => {
  await load(one, valuesOf(1, TIMEZONE));
  const alone = await answersOf(system, one, addresses);
  await load(other, valuesOf(2, TIMEZONE));
  expect(await answersOf(system, one, addresses)).toEqual(alone);

  const own = await answersOf(system, other, addresses);
  const [differ, answered] = [addresses.filter((address) => !same(own.get(address), alone.get(address))), [...own.values()] as Json[]];
  // The companies must read different, non-empty data, or the comparison shows nothing.
  expect(differ.length).toBeGreaterThan(addresses.length / 2);
  expect(answered.filter(({ status }) => status === 200).length).toBeGreaterThan(addresses.length * 0.8);
  await load(one, valuesOf(3, TIMEZONE));
  expect(await answersOf(system, other, addresses)).toEqual(own);
}, 180_000);

test.each([...DERIVED_PATHS])('computes derived fields of %s from the company’s own records', async (path) => {
  const world = worlds.get(other) as World;
  const records = await readAll(system, other, `/v1/${path}?limit=100`);
  expect(records.length).toBe(world.lines[path]!.size);
  for (const record of records) {
    const { aging: _, ...expected } = derivedOf(path, world.lines[path]!.get(record['id']) as Json, world, Date.now());
    const shown = Object.fromEntries(Object.keys(expected).map((name) => [name, record[name]]));
    expect({ id: record['id'], ...shown }).toEqual({ id: record['id'], ...expected });
  }
});

test('imports the same values again under the same ids without a change', async () => {
  for (const [path, lines] of valuesOf(2, TIMEZONE)) {
    const { created, changed } = await system.importRecords(other, path, lines);
    expect({ path, created, changed }).toEqual({ path, created: 0, changed: 0 });
  }
});

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
