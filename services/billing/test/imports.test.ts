// Lines whose sums, together with other records, exceed the range of cents: the error is that line's, and the others are stored.
import { randomUUID } from 'node:crypto';
import { GetInvoiceResponse } from '@truckroll/contract/gen/billing/v1/invoices';
import { GetRefundResponse } from '@truckroll/contract/gen/billing/v1/refunds';
import type { Database } from '@truckroll/postgres';
import { NameCache, RecordReader, importBatch, type Table } from '@truckroll/record-store';
import { silentLog } from '@truckroll/telemetry';
import { openFreshDatabase } from '@truckroll/testing';
import { tables } from '../src/resources/index.ts';
import { invoices } from '../src/resources/invoices.ts';
import { refunds } from '../src/resources/refunds.ts';
import { schema } from '../src/schema.ts';
import { AT, account, importLines, invoice, payment, type Line } from './records.ts';

const MOST = Number.MAX_SAFE_INTEGER;

let database: Database;
let close: () => Promise<void>;
beforeAll(async () => {
  ({ database, close } = await openFreshDatabase(schema));
});
afterAll(() => close());

const stored = async (table: string, company: string): Promise<string[]> =>
  (await database.query<{ id: string }>({ text: `select id from ${table} where company_id = $1`, values: [company] })).rows.map(({ id }) => id);

test('rejects the payment that takes an invoice’s sum beyond the range of cents, naming its allocation, and stores the rest of the batch', async () => {
  const company = randomUUID();
  const [owed, other] = [invoice(), invoice()];
  await importLines(database, company, 'invoices', [owed, other]);
  const lines = [
    payment({ [other.id]: 5 }),
    payment({ [owed.id]: MOST - 10 }),
    payment({ [other.id]: 1, [owed.id]: 11 }),
    payment({ [owed.id]: -20 }),
    payment({ [owed.id]: 20 }),
  ];
  const answer = await importLines(database, company, 'payments', lines);
  expect(answer).toMatchObject({
    lines: 5,
    created: 4,
    problems: [
      {
        line: 3,
        field: 'invoice_allocations[1].applied_cents',
        code: 'OUT_OF_RANGE',
        message: `With it, amounts.paid_cents of invoices/${owed.id} would be beyond ±9007199254740991.`,
      },
    ],
  });
  expect((await stored('payments', company)).sort()).toEqual(
    lines
      .filter((_, i) => i !== 2)
      .map(({ id }) => id)
      .sort(),
  );
  // Intermediate sums beyond the range are exact.
  const again = await importLines(database, company, 'payments', lines);
  expect(again).toMatchObject({ created: 0, changed: 0, unchanged: 4, problems: [{ line: 3 }] });
});

test('a payment that is imported again counts only toward the invoices that it names now', async () => {
  const company = randomUUID();
  const [first, second, third] = [invoice(), invoice(), invoice()];
  const reader = new RecordReader(invoices as Table<any> as Table, { database, names: new NameCache(database, schema.schema, silentLog) });
  const paid = () =>
    Promise.all(
      [first, second, third].map(async ({ id }) => {
        const { data } = GetInvoiceResponse.decode(await reader.detail({ company_id: company, time_zone: 'UTC', id }));
        return data?.amounts?.paid_cents;
      }),
    );
  await importLines(database, company, 'invoices', [first, second, third]);
  const moving = payment({ [first.id]: 30, [second.id]: 40 });
  await importLines(database, company, 'payments', [moving, payment({ [first.id]: 5 })]);
  expect(await paid()).toEqual([35, 40, 0]);
  await importLines(database, company, 'payments', [{ ...payment({ [second.id]: 10, [third.id]: 60 }), id: moving.id }]);
  expect(await paid()).toEqual([5, 10, 60]);
});

test('rejects the invoice whose balance exceeds the range with existing payments, naming the field', async () => {
  const company = randomUUID();
  const far = invoice({
    line_items: [
      {
        id: randomUUID(),
        position: 0,
        name: 'x',
        description: '',
        quantity: 1,
        unit_price_cents: 1,
        subtotal_cents: -MOST,
        taxable: false,
        discountable: false,
      },
    ],
    amounts: { subtotal_cents: -MOST, discount_cents: 0, discounted_subtotal_cents: -MOST, tax_cents: 0, total_cents: -MOST },
  });
  await importLines(database, company, 'payments', [payment({ [far.id]: 1 })]);
  expect(await importLines(database, company, 'invoices', [invoice(), far, invoice()])).toMatchObject({
    created: 2,
    problems: [{ line: 2, field: 'amounts.open_balance_cents', code: 'OUT_OF_RANGE' }],
  });
});

test('stores and publishes a record of 3 MB, and rejects only a record that is too large to publish', async () => {
  const company = randomUUID();
  const item = (bytes: number) => ({
    id: randomUUID(),
    position: 0,
    name: 'x'.repeat(bytes),
    description: '',
    quantity: 1,
    unit_price_cents: 0,
    subtotal_cents: 0,
    taxable: false,
    discountable: false,
  });
  const large = invoice({ line_items: [item(3_000_000)] });
  const answer = await importLines(database, company, 'invoices', [invoice(), large, invoice({ line_items: [item(4_150_000)] }), invoice()]);
  expect(answer).toMatchObject({
    created: 3,
    problems: [{ line: 3, field: '(line)', code: 'TOO_LARGE', message: expect.stringMatching(/^With it, the record [-0-9a-f]{36} takes 41\d{5} bytes/) }],
  });
  const { rows } = await database.query<{ bytes: number }>({
    text: 'select octet_length(payload) as bytes from outbox where key = $1',
    values: [`${company}/${large.id}`],
  });
  expect(rows[0]?.bytes).toBeGreaterThan(3_000_000);
});

test('counts every line once: the last line with an id wins, and the earlier one is reported', async () => {
  const company = randomUUID();
  const [first, second] = [payment({}), payment({})];
  const answer = await importLines(database, company, 'payments', [first, second, { ...first, id: first.id.toUpperCase(), number: 'PAY-2' }]);
  expect(answer).toMatchObject({
    lines: 3,
    created: 2,
    changed: 0,
    unchanged: 0,
    problems: [{ line: 1, field: 'id', code: 'INVALID_FORMAT', message: 'Line 3 has the same id and replaces this one: leave one of them out.' }],
  });
});

test('reports by its path a key given twice in a line, and a fraction of a cent too small for a double', async () => {
  const company = randomUUID();
  const texts = [
    JSON.stringify(payment({})).replace('"amount_cents":1', '"amount_cents":2,"amount_cents":1'),
    JSON.stringify(payment({})).replace('"amount_cents":1', '"amount_cents":1.00000000000000000001'),
  ];
  const { created, problems } = await importBatch(
    database,
    tables,
    { company_id: company, path: 'payments', first_line: 7, lines: texts.map((text) => Buffer.from(text)) },
    { log: silentLog, requestId: 'test' },
  );
  expect({ created, problems: problems.map(({ line, field }) => ({ line, field })) }).toEqual({
    created: 0,
    problems: [
      { line: 7, field: 'amount_cents' },
      { line: 8, field: 'amount_cents' },
    ],
  });
});

const line = (id: string, subtotal_cents: number) => ({
  id,
  position: 0,
  name: 'x',
  description: '',
  quantity: 1,
  unit_price_cents: 1,
  subtotal_cents,
  taxable: true,
  discountable: true,
});
const amounts = (subtotal_cents: number) => ({
  subtotal_cents,
  discount_cents: 0,
  discounted_subtotal_cents: subtotal_cents,
  tax_cents: 0,
  total_cents: subtotal_cents,
});

test('requires line items with distinct ids that add up to the subtotal, in invoices and in all options of an estimate', async () => {
  const company = randomUUID();
  const [a, b] = [randomUUID(), randomUUID()];
  const { created, problems } = await importLines(database, company, 'invoices', [
    invoice({ line_items: [line(a, 2), line(b, 3)], amounts: amounts(5) }),
    invoice({ line_items: [line(a, 2), line(a, 3)], amounts: amounts(5) }),
    invoice({ line_items: [line(a, 2), line(b, 3)], amounts: amounts(6) }),
    invoice({ line_items: [line(a, MOST), line(b, 1)], amounts: amounts(MOST) }),
  ]);
  expect({ created, fields: problems.map(({ line: number, field }) => `${number} ${field}`) }).toEqual({
    created: 1,
    fields: ['2 line_items[1].id', '3 amounts.subtotal_cents', '4 amounts.subtotal_cents'],
  });
  const option = (id: string, subtotal: number) => ({
    id: randomUUID(),
    name: 'Good',
    position: 0,
    status: 'OPEN',
    recommended: false,
    line_items: [line(id, 5)],
    discounts: [],
    tax: { name: 'None', rate: 0, rounding: 'round' },
    amounts: amounts(subtotal),
  });
  const estimate = (...options: unknown[]): Line => ({
    id: randomUUID(),
    number: 'EST-1',
    name: 'x',
    status: 'DRAFT',
    account,
    location_id: randomUUID(),
    currency: 'USD',
    options,
    created_at: AT,
    updated_at: AT,
  });
  const answer = await importLines(database, company, 'estimates', [estimate(option(a, 5), option(b, 5)), estimate(option(a, 5), option(a, 4))]);
  expect({ created: answer.created, fields: answer.problems.map(({ field }) => field) }).toEqual({
    created: 1,
    fields: ['options[1].line_items[0].id', 'options[1].amounts.subtotal_cents'],
  });
});

test('takes a refund’s account, method and collector from its payment, in whatever order they arrive', async () => {
  const company = randomUUID();
  const collector = { id: randomUUID(), name: 'Dana' };
  const of = payment({}, { method: 'CARD', collected_by: collector });
  const claimed = {
    id: randomUUID(),
    payment_id: of.id,
    account: { id: randomUUID(), name: 'Another customer' },
    status: 'SUCCEEDED',
    amount_cents: 1,
    currency: 'USD',
    occurred_at: AT,
    created_at: AT,
    payment_method: 'CASH',
    collected_by: { id: randomUUID(), name: 'Eve' },
  };
  const reader = new RecordReader(refunds as Table<any> as Table, { database, names: new NameCache(database, schema.schema, silentLog) });
  const shown = async (): Promise<unknown> => {
    const bytes = await reader.detail({ company_id: company, time_zone: 'UTC', id: claimed.id });
    const { data } = GetRefundResponse.decode(bytes);
    return { account: data?.account?.id, method: data?.payment_method, collected_by: data?.collected_by?.id };
  };
  const column = async (): Promise<unknown> =>
    (await database.query({ text: 'select account_id, payment_method from refunds where company_id = $1', values: [company] })).rows;
  await importLines(database, company, 'refunds', [claimed]);
  expect(await shown()).toEqual({ account: claimed.account.id, method: 'PAYMENT_METHOD_CASH', collected_by: claimed.collected_by.id });
  await importLines(database, company, 'payments', [of]);
  expect(await shown()).toEqual({ account: account.id, method: 'PAYMENT_METHOD_CARD', collected_by: collector.id });
  expect(await column()).toEqual([{ account_id: account.id, payment_method: 'CARD' }]);
  await importLines(database, company, 'refunds', [{ ...claimed, amount_cents: 2 }]);
  await importLines(database, company, 'payments', [{ ...of, collected_by: null }]);
  expect(await shown()).toEqual({ account: account.id, method: 'PAYMENT_METHOD_CARD', collected_by: undefined });
});

test('accepts an invoice once in a payment, and names each repetition', async () => {
  const company = randomUUID();
  const [first, second] = [randomUUID(), randomUUID()];
  const repeated = (...ids: string[]) => ({ ...payment({}), invoice_allocations: ids.map((invoice_id) => ({ invoice_id, applied_cents: 1 })) });
  const { created, problems } = await importLines(database, company, 'payments', [repeated(first, second, first, second), repeated(first, second)]);
  const message = 'Add up the amounts: a payment names each invoice once.';
  expect({ created, problems }).toEqual({
    created: 1,
    problems: [2, 3].map((n) => ({ line: 1, field: `invoice_allocations[${n}].invoice_id`, code: 'RANGE_ORDER', message })),
  });
});

test('names the allocation of a payment that exceeds an invoice’s range, even if the two have the same id', async () => {
  const company = randomUUID();
  const owed = invoice();
  await importLines(database, company, 'invoices', [owed]);
  await importLines(database, company, 'payments', [payment({ [owed.id]: MOST })]);
  const { problems } = await importLines(database, company, 'payments', [{ ...payment({ [owed.id]: 1 }), id: owed.id }]);
  expect(problems).toMatchObject([{ field: 'invoice_allocations[0].applied_cents', code: 'OUT_OF_RANGE' }]);
});
