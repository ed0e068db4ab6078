import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inOrderOfReference, resources } from '@truckroll/contract';
import { planImport, suggestion } from '../src/import/files.ts';

let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'truckroll-plan-'))));
afterEach(() => rmSync(folder, { recursive: true }));

const file = (name: string): string => {
  const path = join(folder, name);
  writeFileSync(path, '{}\n');
  return path;
};

test('orders all records of the contract: references before the records that need them, invoices before their payments', () => {
  const order = inOrderOfReference().map(({ path }) => path);
  expect([...order].sort()).toEqual(resources.map(({ path }) => path).sort());
  const before = (first: string, second: string): void => expect(order.indexOf(first)).toBeLessThan(order.indexOf(second));
  before('accounts', 'contacts');
  before('job-types', 'jobs');
  before('jobs', 'invoices');
  before('invoices', 'payments');
  before('payments', 'refunds');
  for (const { path, record } of resources) {
    const must = record.fields.filter(({ nullable, repeated, derived }) => !nullable && !repeated && !derived);
    for (const { refersTo } of must) if (refersTo !== undefined) before(refersTo, path);
  }
});

test('reads the record files of a folder in that order and skips the others', () => {
  const others = ['company.json', 'README.md', 'service-requests.ndjson', 'interactions.ndjson', 'changes.ndjson', 'cursor'];
  for (const name of ['payments.ndjson', 'accounts.ndjson', 'invoices.ndjson', ...others]) file(name);
  const { inputs, ignored } = planImport([folder]);
  expect(inputs.map(({ resource }) => resource.path)).toEqual(['accounts', 'invoices', 'payments']);
  expect(ignored).toHaveLength(others.length);
  expect(ignored.join()).toMatch(/company\.json: left alone; create the company with `truckroll company create`/);
});

test('imports nothing if a file name matches no record, and suggests the nearest', () => {
  file('invoices.ndjson');
  file('job_types.ndjson');
  expect(() => planImport([folder])).toThrow(
    /job_types\.ndjson: there are no records called job_types\. Did you mean job-types\.ndjson\?\nNothing was imported\./,
  );
  const known = inOrderOfReference();
  expect(suggestion('invoice', known)).toBe('Did you mean invoices.ndjson?');
  expect(suggestion('payroll', known)).toMatch(/^Known names: accounts, /);
});

test('reports in one sentence that a file does not exist, or a folder has no records', () => {
  expect(() => planImport([join(folder, 'nowhere')])).toThrow(/nowhere does not exist/);
  expect(() => planImport([folder])).toThrow('There is no file to import: give a folder or files such as invoices.ndjson.');
});
