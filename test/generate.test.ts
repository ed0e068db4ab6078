// Error messages of `npm run generate` for an invalid contract.
import { spawnSync } from 'node:child_process';
import { Tree } from './rollout/tree.ts';

const FILE = 'proto/truckroll/billing/v1/invoices.proto';

let tree: Tree;
beforeAll(() => (tree = new Tree()));
afterAll(() => tree.remove());

test.each([
  ['option name', '(truckroll.options.v1.resource) = {path: "invoices"}', '(truckroll.options.v1.resorce) = {path: "invoices"}'],
  ['field of an option', '(truckroll.options.v1.resource) = {path: "invoices"}', '(truckroll.options.v1.resource) = {pth: "invoices"}'],
  ['value of an option', 'id = 1 [(truckroll.options.v1.format) = FORMAT_UUID]', 'id = 1 [(truckroll.options.v1.format) = FORMAT_UUUID]'],
])('names file and line of a misspelt %s, without a stack trace', (_, text, misspelt) => {
  tree.replace(FILE, text, misspelt);
  const { status, stderr } = spawnSync(process.execPath, ['scripts/generate.mjs'], { cwd: tree.folder, encoding: 'utf8' });
  tree.replace(FILE, misspelt, text);
  expect(status).toBe(1);
  expect(stderr).toMatch(/^proto\/truckroll\/billing\/v1\/invoices\.proto:\d+:\d+:.*\nbuf build failed, for the reason above\.\n$/);
});

test('names the route of a misspelt parameter, without a stack trace', () => {
  const [route, misspelt] = ['{get: "/v1/invoices/{id}"}', '{get: "/v1/invoices/{ident}"}'];
  tree.replace(FILE, route, misspelt);
  const { status, stderr } = spawnSync(process.execPath, ['scripts/generate.mjs'], { cwd: tree.folder, encoding: 'utf8' });
  expect(status).toBe(1);
  expect(stderr).toMatch(/GetInvoice: .*ident/);
  expect(stderr).not.toMatch(/^ +at /m);
});

test('names a field of a record that is not declared in the order of numbers', () => {
  const [first, late] = ['string id = 1 [(truckroll.options.v1.format) = FORMAT_UUID', 'string id = 99 [(truckroll.options.v1.format) = FORMAT_UUID'];
  tree.replace(FILE, first, late);
  const { status, stderr } = spawnSync(process.execPath, ['scripts/generate.mjs'], { cwd: tree.folder, encoding: 'utf8' });
  tree.replace(FILE, late, first);
  expect(status).toBe(1);
  expect(stderr).toMatch(/declare \w+ \(\d+\) before id \(99\), in the order of numbers/);
});
