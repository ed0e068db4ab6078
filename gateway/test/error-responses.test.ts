// The descriptions themselves are compared with gateway/openapi.json, which is reviewed with every change.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { deprecationHeaders, errorResponses, errorSchemas, headerComponents, limitHeaders, reportHeaders, responseComponents } from '../src/openapi/errors.ts';

const { paths, components } = JSON.parse(readFileSync(join(import.meta.dirname, '../openapi.json'), 'utf8'));
const success = (route: string) => paths[route].get.responses[200].headers;

test.each([
  [{ named: false, changes: false, resyncs: false }, ['400', '401', '429', '500', '503']],
  [{ named: true, changes: false, resyncs: false }, ['400', '401', '404', '429', '500', '503']],
  [{ named: false, changes: true, resyncs: false }, ['400', '401', '404', '409', '429', '500', '503']],
  [{ named: true, changes: true, resyncs: false }, ['400', '401', '404', '409', '429', '500', '503']],
])('an operation that is %j may answer %j', (options, statuses) => {
  expect(Object.keys(errorResponses(options))).toEqual(statuses);
});

test('refers to a response for each status', () => {
  expect(errorResponses({ named: true, changes: true, resyncs: true })).toEqual({
    400: { $ref: '#/components/responses/InvalidRequest' },
    401: { $ref: '#/components/responses/Unauthenticated' },
    404: { $ref: '#/components/responses/NotFound' },
    409: { $ref: '#/components/responses/Conflict' },
    410: { $ref: '#/components/responses/ResyncRequired' },
    429: { $ref: '#/components/responses/RateLimited' },
    500: { $ref: '#/components/responses/InternalError' },
    503: { $ref: '#/components/responses/Unavailable' },
  });
});

test('describes errors, their details and all headers as published', () => {
  expect(Object.keys(errorSchemas)).toEqual(['ErrorResponse', 'ApiError', 'ErrorDetail']);
  for (const [name, schema] of Object.entries(errorSchemas)) expect(schema).toEqual(components.schemas[name]);
  expect(headerComponents).toEqual(components.headers);
  expect(responseComponents).toEqual(components.responses);
  expect(limitHeaders).toEqual(success('/v1/company'));
  expect({ ...limitHeaders, ...reportHeaders }).toEqual(success('/v1/reports/collections'));
});

test('names the headers of each error', () => {
  const headers = Object.entries(responseComponents).map(([name, { headers: of }]) => [name, Object.keys(of as object)]);
  const every = ['X-Request-Id', 'Cache-Control'];
  const limited = [...every, 'RateLimit-Policy', 'RateLimit'];
  expect(Object.fromEntries(headers)).toEqual({
    InvalidRequest: limited,
    Unauthenticated: [...every, 'WWW-Authenticate'],
    NotFound: limited,
    Conflict: [...limited, 'Retry-After'],
    ResyncRequired: limited,
    RateLimited: [...limited, 'Retry-After'],
    InternalError: limited,
    Unavailable: [...every, 'Retry-After'],
  });
});

test('describes what announces a removal, each as text', () => {
  expect(Object.entries(deprecationHeaders)).toEqual(
    ['Deprecation', 'Sunset', 'Link'].map((name) => [name, { description: expect.stringMatching(/\.$/), schema: { type: 'string' } }]),
  );
});
