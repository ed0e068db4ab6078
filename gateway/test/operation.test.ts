// What an operation counts, calls and answers for a parsed request.
import { EventEmitter } from 'node:events';
import { randomBytes } from 'node:crypto';
import { codec, type ApiError } from '@truckroll/contract';
import type { Principal } from '@truckroll/contract/gen/integrations/v1/identity';
import { KeyRing } from '@truckroll/process';
import type { Exchange } from '../src/http/exchange.ts';
import { OutputPool } from '../src/http/output-pool.ts';
import { UnsentAnswers } from '../src/http/unsent.ts';
import { createCursors } from '../src/routes/cursor.ts';
import { SHARED_WEIGHT } from '../src/admission/limiter.ts';
import { compileOperation, type OperationContext } from '../src/routes/operation.ts';
import { operation as named } from './support/operation.ts';

const USER = { company_id: 'acme', time_zone: 'America/Chicago', user_id: 'ana', kind: 'PRINCIPAL_KIND_USER' } as Principal;
const IDS = Array.from({ length: 3 }, (_, n) => `0b8f3c1e-7a52-4c6d-9e10-2f4a5b6c7d8${n}`);

/** One operation, in front of a service that answers with an empty message. */
function compiled(name: string, { exceeded = false, answersLate = false } = {}) {
  const operation = named(name);
  const consumed: [class_: string, requests: number | undefined][] = [];
  const called: Buffer[] = [];
  const bytes = Buffer.from(codec(operation.response.typeName).encode(codec(operation.response.typeName).decode(new Uint8Array())).finish());
  const res = Object.assign(new EventEmitter(), {
    destroyed: false,
    written: [] as unknown[],
    writeHead: (...head: unknown[]) => res.written.push(...head),
    end: (body: Buffer) => res.written.push(body),
  });
  const context = {
    services: {
      channels: {
        integrations: {
          client: () => ({ checkWebhook: async () => ({ problems: [{ field: 'url', code: 'INVALID_FORMAT', message: 'Not this address.' }] }) }),
        },
      },
      call: () => async (request: Buffer) => {
        called.push(request);
        if (answersLate) res.destroyed = true;
        return { bytes };
      },
    },
    limits: {
      async consume(_: Principal, limitClass: string, requests?: number) {
        consumed.push([limitClass, requests]);
        return { policy: 'writes', quota: 1200, remaining: 0, resetSeconds: 7, ofCompany: false, exceeded };
      },
    },
    cursors: createCursors(new KeyRing([['k1', randomBytes(32)]])),
    outputs: new OutputPool(),
    unsent: new UnsentAnswers(),
    draining: { active: false },
    base: '',
    compresses: false,
  } as unknown as OperationContext;
  const { handle, limitClass, weight } = compileOperation(operation, context);
  const exchange = {
    req: { headers: { 'content-type': 'application/json' }, accepts: () => 'application/json' },
    res,
    requestId: 'r-1',
    principal: USER,
    query: '',
    path: operation.route,
  };
  const run = (values: readonly string[], body: object) => handle(exchange as unknown as Exchange, values, Buffer.from(JSON.stringify(body)));
  return { run, consumed, called, res, limitClass, weight };
}

test('details hold a part of a slot, because they share calls; lists and reports hold a whole one', () => {
  const weights = ['GetInvoice', 'ListInvoices', 'GetCollectionsReport'].map((name) => compiled(name).weight);
  expect(weights).toEqual([SHARED_WEIGHT, 1, 1]);
});

test.each([
  [IDS.slice(0, 1), []],
  [IDS, [['writes', 2]]],
  [[IDS[0]!, IDS[1]!, IDS[0]!.toUpperCase()], [['writes', 1]]],
])('counts the deliveries %j as separate writes, less the one that every request counts as', async (deliveryIds, counted) => {
  const { run, consumed, called, res, limitClass } = compiled('RedeliverWebhooks');
  await run([IDS[0]!], { deliveryIds });
  expect([limitClass, consumed, called.length, res.written[0]]).toEqual(['writes', counted, 1, 202]);
});

test('counts the writes of a request once that goes to a second cell', async () => {
  const { run, consumed, called } = compiled('RedeliverWebhooks');
  for (let cells = 0; cells < 2; cells += 1) await run([IDS[0]!], { deliveryIds: IDS });
  expect([consumed, called.length]).toEqual([[['writes', 2]], 2]);
});

test('makes no call if the writes of one request exceed the limit', async () => {
  const { run, called, res } = compiled('RedeliverWebhooks', { exceeded: true });
  await expect(run([IDS[0]!], { deliveryIds: IDS })).rejects.toMatchObject({ code: 'RATE_LIMITED', retryAfterSeconds: 7 });
  expect([called, res.written]).toEqual([[], []]);
});

test('writes nothing to a client that left before the service answered', async () => {
  const { run, called, res } = compiled('RedeliverWebhooks', { answersLate: true });
  await run([IDS[0]!], { deliveryIds: IDS });
  expect([called.length, res.written]).toEqual([1, []]);
});

test('lists the address that integrations refuses with the other problems of a request, and makes no call', async () => {
  const { run, called } = compiled('CreateWebhook');
  const body = { url: 'https://example.com/hook', eventTypes: ['service_request.created'], colour: 'red' };
  const refused = run([], body);
  await expect(refused).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
  const { details } = (await refused.catch((error: unknown) => error)) as ApiError;
  expect(details.map(({ field, code }) => `${field} ${code}`)).toEqual(['name MISSING', 'colour UNKNOWN_FIELD', 'url INVALID_FORMAT']);
  expect(details.at(-1)).toMatchObject({ location: 'body', message: 'Not this address.' });
  expect(called).toEqual([]);
});
