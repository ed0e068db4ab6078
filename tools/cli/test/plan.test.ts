import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { inOrderOfReference, resources } from '@truckroll/contract';
import { planImport, suggestion } from '../src/import/files.ts';

let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'truckroll-plan-'))));
afterEach(() => rmSync(folder, { recursive: true }));

const file = (name: string, content: string | Buffer = '{}\n'): string => {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
};

/** What is read from each file, by its name, and what is said about the others. */
const planned = (...names: string[]) => {
  const { inputs, remarks, unread } = planImport(names.length === 0 ? [folder] : names);
  return { read: inputs.map(({ file: name, resource }) => `${basename(name)}: ${resource.path}`), remarks, unread };
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
  mkdirSync(join(folder, 'notes'));
  const { read, remarks, unread } = planned();
  expect(read).toEqual(['accounts.ndjson: accounts', 'invoices.ndjson: invoices', 'payments.ndjson: payments']);
  expect([remarks.length, unread]).toEqual([others.length + 1, []]);
  expect(remarks.join()).toMatch(/README\.md: left alone: only .*notes: left alone: subfolders are not read\./s);
  expect(remarks.join()).toMatch(/company\.json: left alone; create the company with `truckroll company create`/);
});

test('suggests the nearest name, or names all', () => {
  const known = inOrderOfReference();
  expect(suggestion('invoice', known)).toBe('Did you mean invoices.ndjson?');
  expect(suggestion('payroll', known)).toMatch(/^Known names: accounts, /);
});

test.each<[string, () => void, string[], RegExp | undefined]>([
  ['._accounts.ndjson, which macOS adds', () => file('._accounts.ndjson'), [], undefined],
  ['.DS_Store', () => file('.DS_Store'), [], undefined],
  ['accounts.jsonl', () => file('accounts.jsonl'), ['accounts.jsonl: accounts'], undefined],
  ['ACCOUNTS.NDJSON', () => file('ACCOUNTS.NDJSON'), ['ACCOUNTS.NDJSON: accounts'], undefined],
  ['accounts.ndjson.gz', () => file('accounts.ndjson.gz', gzipSync('{}\n')), ['accounts.ndjson.gz: accounts'], undefined],
  ['accounts (1).ndjson', () => file('accounts (1).ndjson'), [], /accounts \(1\)\.ndjson: not read: there are no .* Did you mean accounts\.ndjson\?$/],
  ['job_types.ndjson', () => file('job_types.ndjson'), [], /job_types\.ndjson: not read: there are no .* Did you mean job-types\.ndjson\?$/],
  ['invoices.json', () => file('invoices.json'), [], /invoices\.json: not read: only \.ndjson and \.jsonl files are/],
  ['Invoices.ndjson.bak', () => file('Invoices.ndjson.bak'), [], /Invoices\.ndjson\.bak: not read: only/],
  ['invoices_2026.csv', () => file('invoices_2026.csv'), [], /invoices_2026\.csv: not read: only/],
  ['a subfolder named after records', () => mkdirSync(join(folder, 'invoices')), [], /invoices: not read: subfolders are not read\. Give its name too/],
  ['a subfolder with records', () => (mkdirSync(join(folder, 'sub')), file('sub/Invoices.ndjson')), [], /sub: not read: subfolders are not read/],
  ['a folder with the name of records', () => mkdirSync(join(folder, 'accounts.ndjson')), [], /accounts\.ndjson: not read: it is a folder/],
  ['a FIFO', () => spawnSync('mkfifo', [join(folder, 'accounts.ndjson')]), [], /accounts\.ndjson: not read: it is not a regular file/],
  ['a link out of the folder', () => symlinkSync(import.meta.filename, join(folder, 'accounts.ndjson')), [], /not read: it is a link out of the folder/],
  ['a link to itself', () => symlinkSync('accounts.ndjson', join(folder, 'accounts.ndjson')), [], /not read: it is a link that leads back to itself/],
  ['a link to nothing', () => symlinkSync('nowhere', join(folder, 'accounts.ndjson')), [], /not read: it is a link to something that does not exist/],
])('in a folder, %s is read, ignored or named, and the rest is imported', (_, make, read, unread) => {
  make();
  file('tags.ndjson');
  expect(planned()).toEqual({
    read: expect.arrayContaining(['tags.ndjson: tags', ...read]),
    remarks: [],
    unread: unread === undefined ? [] : [expect.stringMatching(unread)],
  });
  expect(planned().read).toHaveLength(1 + read.length);
});

test('reads the files of a mounted ConfigMap once, through its links', () => {
  mkdirSync(join(folder, '..2026_11_27'));
  file('..2026_11_27/accounts.ndjson');
  symlinkSync('..2026_11_27', join(folder, '..data'));
  symlinkSync('..data/accounts.ndjson', join(folder, 'accounts.ndjson'));
  symlinkSync('accounts.ndjson', join(folder, 'accounts.jsonl'));
  expect(planned()).toEqual({ read: ['accounts.jsonl: accounts'], remarks: [], unread: [] });
  expect(planned(folder, join(folder, 'accounts.ndjson')).read).toEqual(['accounts.jsonl: accounts']);
});

test('says in which order it reads several files of the same records', () => {
  for (const name of ['accounts.ndjson', 'accounts.jsonl', 'Accounts.ndjson.gz']) file(name);
  const { read, remarks } = planned();
  expect(read).toEqual(['Accounts.ndjson.gz: accounts', 'accounts.jsonl: accounts', 'accounts.ndjson: accounts']);
  expect(remarks).toEqual([expect.stringMatching(/^accounts are read from .*Accounts\.ndjson\.gz, then .*accounts\.jsonl, then .*accounts\.ndjson\.$/)]);
});

test('reports in one sentence that a file does not exist, or a folder has no records', () => {
  expect(() => planImport([join(folder, 'nowhere')])).toThrow(/nowhere does not exist/);
  symlinkSync('itself', join(folder, 'itself'));
  expect(() => planImport([join(folder, 'itself')])).toThrow(/itself cannot be read: it is a link that leads back to itself/);
  expect(() => planImport([folder])).toThrow('There is no file to import: give a folder or files such as invoices.ndjson.');
});
