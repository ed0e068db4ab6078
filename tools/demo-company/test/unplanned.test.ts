import { readMessage, resources, shapeNamed, type Field, type Resource, type Shape } from '@truckroll/contract';
import { buildCompany } from '../src/build-company.ts';
import { unplanned } from '../src/shapes/maker.ts';
import { parseInstant } from '../src/time.ts';
import { SMALL, loadCompany, type Json } from './company.ts';
import { Coverage } from './coverage.ts';
import { namesOf, strays } from './references.ts';

const company = buildCompany(SMALL);
const data = loadCompany();
const known = namesOf(data);

const recordsOf = (resource: Pick<Resource, 'path' | 'record'>) => [...unplanned(resource).all(company)] as Json[];

const REFERENCE = shapeNamed('truckroll.type.v1.Reference');

function shapeOf(fields: readonly (Pick<Field, 'name' | 'kind'> & Partial<Field>)[]): Shape {
  const whole = fields.map(
    (field, i): Field => ({
      number: i + 1,
      nullable: false,
      repeated: false,
      derived: false,
      endless: false,
      dispensable: false,
      doc: '',
      ...(field.kind === 'reference' && { shape: REFERENCE }),
      ...field,
    }),
  );
  return { typeName: 'test', doc: '', fields: whole, byName: new Map(whole.map((field) => [field.name, field])) };
}

const names = new Map([
  [1, 'HELD'],
  [2, 'RETURNED'],
  [3, 'SPENT'],
]);
const spelled = new Map([...names.values()].map((name) => [name, name]));
const status = { typeName: 'Status', doc: '', names, docs: new Map(), generated: spelled, zero: '', spellings: spelled };
const part = shapeOf([
  { name: 'id', kind: 'uuid' },
  { name: 'label', kind: 'string', format: 'one_line', range: { maxLength: 12 } },
  { name: 'share', kind: 'number', range: { min: 0, max: 1 } },
  { name: 'payment_id', kind: 'uuid', refersTo: 'payments', nullable: true },
]);
const DEPOSITS = {
  path: 'deposits',
  record: shapeOf([
    { name: 'id', kind: 'uuid' },
    { name: 'number', kind: 'string', example: 'DEP-1042' },
    { name: 'account', kind: 'reference', refersTo: 'accounts' },
    { name: 'invoice_id', kind: 'uuid', refersTo: 'invoices' },
    { name: 'place', kind: 'reference', refersTo: 'locations', nullable: true },
    { name: 'collected_by', kind: 'reference', refersTo: 'team-members', nullable: true },
    { name: 'tags', kind: 'reference', refersTo: 'tags', repeated: true },
    { name: 'status', kind: 'enum', enum: status },
    { name: 'past_statuses', kind: 'enum', enum: status, repeated: true },
    { name: 'amount_cents', kind: 'cents', range: { above: 0 } },
    { name: 'currency', kind: 'string', format: 'currency' },
    { name: 'phone', kind: 'string', format: 'phone', nullable: true },
    { name: 'email', kind: 'string', format: 'email' },
    { name: 'color', kind: 'string', format: 'color' },
    { name: 'receipt_url', kind: 'string', format: 'url' },
    { name: 'digest', kind: 'string', format: 'revision' },
    { name: 'note', kind: 'string', nullable: true, range: { minLength: 3, maxLength: 20 } },
    { name: 'copies', kind: 'integer', range: { min: 1, max: 3 } },
    { name: 'refundable', kind: 'boolean' },
    { name: 'balance_cents', kind: 'cents', derived: true },
    { name: 'parts', kind: 'object', shape: part, repeated: true, range: { minItems: 1 } },
    { name: 'largest', kind: 'object', shape: part, nullable: true },
    { name: 'left_on', kind: 'date' },
    { name: 'used_at', kind: 'timestamp', nullable: true },
    { name: 'created_at', kind: 'timestamp' },
    { name: 'updated_at', kind: 'timestamp' },
  ]),
};

test('every record of the contract can be generated from its shape alone: an import accepts it, and its references exist', () => {
  for (const resource of resources.filter(({ path }) => path !== 'job-classes')) {
    const records = recordsOf(resource);
    expect({ path: resource.path, some: records.length > 30 }).toEqual({ path: resource.path, some: true });
    for (const record of records) expect(readMessage(resource.record, record).problems).toEqual([]);
    expect(strays(resource, records, known)).toEqual([]);
  }
});

describe('a record that is added to the contract', () => {
  const deposits = recordsOf(DEPOSITS);

  test('has values that match its shape, including every value and null', () => {
    const coverage = new Coverage({ deposits: DEPOSITS.record }).read([{ path: 'deposits', records: deposits }]);
    expect(coverage.misfits).toEqual([]);
    expect([...coverage.missing]).toEqual(['deposits.parts=[]']);
    expect(new Set(deposits.map(({ id }) => id)).size).toBe(deposits.length);
    expect(new Set(deposits.map(({ number }) => number)).size).toBe(deposits.length);
  });

  test('names existing records that belong together: an invoice with its account', () => {
    expect(strays(DEPOSITS, deposits, known)).toEqual([]);
    const invoices = new Map(data.invoices!.map((invoice) => [invoice.id, invoice]));
    for (const { invoice_id: id, account } of deposits) expect(invoices.get(id)?.account).toEqual(account);
    expect(deposits.length).toBeGreaterThan(50);
  });

  test('has its times in the order of its fields, none after the end', () => {
    for (const { created_at: created, used_at: used, updated_at: updated } of deposits) {
      const moments = [created, used ?? created, updated, SMALL.until].map(parseInstant);
      expect(moments).toEqual([...moments].sort((a, b) => a - b));
    }
  });

  test('is available for a job, to records that are added after it', () => {
    const { about } = unplanned(DEPOSITS);
    const found = Array.from({ length: 80 }, (_, n) => [...about(company, company.jobAt(n))]).flat();
    expect(found.length).toBeGreaterThan(10);
    expect(found).toEqual(deposits.slice(0, found.length));
  });
});
