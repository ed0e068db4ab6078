import type { ServerResponse } from 'node:http';
import { ApiError, type ErrorDetail } from '@truckroll/contract';
import { JSON_TYPE, errorBody, send, sendError, sendHead } from '../src/http/answer.ts';
import type { Exchange } from '../src/http/exchange.ts';

/** An exchange that records what is written to its response. */
function exchange(more: Partial<Exchange> = {}) {
  const written: unknown[] = [];
  const res = {
    headersSent: false,
    destroyed: false,
    writeHead: (...head: unknown[]) => {
      written.push(...head);
      return res;
    },
    end: (...body: unknown[]) => void written.push(...body),
  };
  return { written, res, of: { res: res as unknown as ServerResponse, requestId: 'r-1', ...more } as Exchange };
}

const RUNNING = { active: false };
const DRAINING = { active: true };
const head = (type: string, length: number, caching = 'private, no-store') => [
  ...['Content-Type', type, 'Content-Length', String(length), 'Cache-Control', caching],
  ...['X-Content-Type-Options', 'nosniff', 'X-Request-Id', 'r-1'],
];

describe('an answer', () => {
  test('has the headers that every answer has, and is noted with its size', () => {
    const { of, written } = exchange();
    send(of, 200, '{}', JSON_TYPE, [], RUNNING);
    expect(written).toEqual([200, head('application/json', 2), '{}']);
    expect(of.bytes).toBe(2);
  });

  test.each([
    ['text', 'é€', 5],
    ['bytes', Buffer.from('é€'), 5],
    ['no bytes', Buffer.alloc(0), 0],
  ])('gives the length of its %s in bytes', (_, body, length) => {
    const { of, written } = exchange();
    send(of, 201, body, 'text/csv', [], RUNNING, 'public');
    expect(written).toEqual([201, head('text/csv', length, 'public'), body]);
    expect(of.bytes).toBe(length);
  });

  test('has what is left of the limit, if one applies', () => {
    const { of, written } = exchange({ limit: { policy: 'reports', quota: 600, remaining: 0, resetSeconds: 59, ofCompany: false } });
    send(of, 200, '', JSON_TYPE, [], RUNNING);
    expect(written[1]).toEqual([...head('application/json', 0), 'RateLimit-Policy', '"reports";q=600;w=60', 'RateLimit', '"reports";r=0;t=59']);
  });

  test('closes its connection while the gateway drains, and has its own headers last', () => {
    const { of, written } = exchange({ limit: { policy: 'default', quota: 6, remaining: 5, resetSeconds: 1, ofCompany: true } });
    send(of, 200, '', JSON_TYPE, ['Vary', 'Accept'], DRAINING);
    expect((written[1] as string[]).slice(10)).toEqual([
      ...['RateLimit-Policy', '"default";q=6;w=60', 'RateLimit', '"default";r=5;t=1'],
      ...['Connection', 'close', 'Vary', 'Accept'],
    ]);
  });
});

describe('an answer to a script of another origin', () => {
  const cors = ['Vary', 'Origin'];

  test('has the headers for it last', () => {
    const { of, written } = exchange({ cors });
    send(of, 200, '', JSON_TYPE, ['Vary', 'Accept'], RUNNING);
    expect((written[1] as string[]).slice(10)).toEqual(['Vary', 'Accept', 'Vary', 'Origin']);
  });

  test('has these headers without a body too', () => {
    const { of, written } = exchange({ cors });
    sendHead(of, 304, ['ETag', '"a"'], RUNNING);
    expect((written[1] as string[]).slice(4)).toEqual(['ETag', '"a"', 'Vary', 'Origin']);
  });
});

describe('an answer without a body', () => {
  test.each<[string, string | undefined, { active: boolean }, string[]]>([
    ['of a running gateway', undefined, RUNNING, ['Cache-Control', 'private, no-store', 'X-Request-Id', 'r-1', 'ETag', '"a"']],
    ['of public data', 'no-cache', RUNNING, ['Cache-Control', 'no-cache', 'X-Request-Id', 'r-1', 'ETag', '"a"']],
    ['of a draining gateway', undefined, DRAINING, ['Cache-Control', 'private, no-store', 'X-Request-Id', 'r-1', 'Connection', 'close', 'ETag', '"a"']],
  ])('%s', (_, caching, draining, headers) => {
    const { of, written } = exchange();
    sendHead(of, 304, ['ETag', '"a"'], draining, caching);
    expect(written).toEqual([304, headers]);
  });
});

describe('an error', () => {
  /** The headers after those of every answer. */
  const answered = (error: ApiError, extra: string[] = [], draining = RUNNING) => {
    const { of, written } = exchange();
    sendError(of, error, extra, draining);
    const [status, headers, body] = written as [number, string[], string];
    expect(headers.slice(0, 10)).toEqual(head('application/json', Buffer.byteLength(body)));
    return { status, headers: headers.slice(10), body, of };
  };

  test('is answered with its status and its body', () => {
    const { status, headers, body } = answered(ApiError.notFound());
    expect([status, headers]).toEqual([404, []]);
    expect(body).toBe('{"error":{"code":"NOT_FOUND","message":"No such record in this company.","request_id":"r-1","details":[]}}');
  });

  test('says how to authenticate where it is 401', () => {
    expect(answered(new ApiError('UNAUTHENTICATED', 'No.'))).toMatchObject({ status: 401, headers: ['WWW-Authenticate', 'Bearer'] });
  });

  test('says when to try again, if that is known', () => {
    expect(answered(ApiError.unavailable(new Error('down'), 30))).toMatchObject({ status: 503, headers: ['Retry-After', '30'] });
    expect(answered(new ApiError('RATE_LIMITED', 'Wait.', { retryAfterSeconds: 0 })).headers).toEqual(['Retry-After', '0']);
    expect(answered(new ApiError('RATE_LIMITED', 'Wait.')).headers).toEqual([]);
  });

  test('has the given headers first, and leaves the given list unchanged', () => {
    const extra = ['Allow', 'GET'];
    const error = new ApiError('UNAUTHENTICATED', 'No.', { retryAfterSeconds: 2 });
    const headers = ['Allow', 'GET', 'WWW-Authenticate', 'Bearer', 'Retry-After', '2'];
    expect(answered(error, extra).headers).toEqual(headers);
    expect(answered(error, extra, DRAINING).headers).toEqual(['Connection', 'close', ...headers]);
    expect(extra).toEqual(['Allow', 'GET']);
  });

  test('is noted with its code and its cause, which is its message if it has no other', () => {
    const cause = new Error('down');
    expect(answered(ApiError.unavailable(cause)).of).toMatchObject({ errorCode: 'INTERNAL_ERROR', cause });
    expect(answered(ApiError.notFound('job')).of).toMatchObject({ errorCode: 'NOT_FOUND', cause: 'No such job in this company.' });
  });

  test.each(['headersSent', 'destroyed'] as const)('is not sent after a response with %s', (state) => {
    const { of, res, written } = exchange();
    res[state] = true;
    sendError(of, ApiError.notFound(), [], RUNNING);
    expect(written).toEqual([]);
    expect(of.errorCode).toBeUndefined();
  });

  test('has its details without absent values', () => {
    const detail = { location: 'query', field: '', code: 'MISSING', message: 'Give it.' } as const;
    const remote = { ...detail, current_revision: null, reason: undefined } as unknown as ErrorDetail;
    const details = [remote, { ...detail, field: 'b', reason: 'COMPLETED' }];
    expect(JSON.parse(errorBody(new ApiError('INVALID_REQUEST', 'No.', { details }), 'r-2'))).toEqual({
      error: { code: 'INVALID_REQUEST', message: 'No.', request_id: 'r-2', details: [detail, { ...detail, field: 'b', reason: 'COMPLETED' }] },
    });
  });
});
