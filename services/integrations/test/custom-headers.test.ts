import { randomBytes } from 'node:crypto';
import { KeyRing } from '@truckroll/process';
import { NO_HEADERS, headerProblems, openHeaders, originProblems, sealHeaders } from '../src/webhooks/endpoints/custom-headers.ts';
import { createSecretBox } from '../src/webhooks/endpoints/secrets.ts';

const secrets = createSecretBox(new KeyRing([['k1', randomBytes(32)]]));
const KEY = { name: 'X-Key', value: 'a value' };
const OTHER = { name: 'X-Other', value: 'another' };
const stored = sealHeaders(secrets, 'e1', [KEY, OTHER], NO_HEADERS);

function problems(given: { name: string; value?: string }[]): unknown {
  return headerProblems(secrets, 'e1', given, stored).map(({ field, code }) => [field, code]);
}

test('keeps names readable and values encrypted for the endpoint', () => {
  expect(stored.header_names).toEqual(['X-Key', 'X-Other']);
  expect(stored.header_values!.includes('a value')).toBe(false);
  expect(openHeaders(secrets, 'e1', stored)).toEqual([KEY, OTHER]);
  expect(() => openHeaders(secrets, 'e2', stored)).toThrow('not sealed');
  expect(() => secrets.open('e1', stored.header_values!)).toThrow('not sealed');
});

test('keeps the stored value of a name that is given without one, in any spelling', () => {
  const changed = sealHeaders(secrets, 'e1', [{ name: 'x-OTHER' }, { name: 'X-New', value: 'new' }], stored);
  expect(openHeaders(secrets, 'e1', changed)).toEqual([
    { name: 'x-OTHER', value: 'another' },
    { name: 'X-New', value: 'new' },
  ]);
});

test('stores nothing without headers', () => {
  expect(sealHeaders(secrets, 'e1', [], stored)).toEqual({ header_names: [], header_values: null });
  expect(openHeaders(secrets, 'e1', NO_HEADERS)).toEqual([]);
});

test('names what is missing, wrong or too long', () => {
  expect(problems([KEY, { name: 'X-New' }])).toEqual([['headers[1].value', 'MISSING']]);
  expect(problems([{ name: 'Host' }, { name: 'X-Long', value: `${'x'.repeat(5000)}é` }])).toEqual([
    ['headers[0].name', 'INVALID_FORMAT'],
    ['headers[1].value', 'INVALID_FORMAT'],
    ['headers[0].value', 'MISSING'],
    ['headers', 'TOO_LARGE'],
  ]);
  // With the kept value of X-Key: 5 + 7 + 6 + 4078 bytes.
  expect(problems([{ name: 'X-Key' }, { name: 'X-Long', value: 'x'.repeat(4078) }])).toEqual([]);
  expect(problems([{ name: 'X-Key' }, { name: 'X-Long', value: 'x'.repeat(4079) }])).toEqual([['headers', 'TOO_LARGE']]);
});

test.each([
  ['the same URL', 'https://a.example/x', undefined, []],
  ['another path', 'https://a.example/y', undefined, []],
  ['no URL', 'a.example', undefined, []],
  ['another scheme', 'http://a.example/x', undefined, ['headers', 'headers']],
  ['another port', 'https://a.example:8443/x', undefined, ['headers', 'headers']],
  ['another host, all values given', 'https://b.example/x', [KEY, OTHER], []],
  ['another host, no headers', 'https://b.example/x', [], []],
  ['another host, a value kept', 'https://b.example/x', [KEY, { name: 'x-OTHER' }], ['headers[1].value']],
  ['another host, a new header without a value', 'https://b.example/x', [{ name: 'X-New' }], []],
])('for a change to %s, asks for the values that stay', (_, to, given, fields) => {
  const found = originProblems('https://a.example/x', to, ['X-Key', 'X-Other'], given);
  expect(found.map(({ field, code }) => [field, code])).toEqual(fields.map((field) => [field, 'MISSING']));
});

test('names the header whose value must be given again', () => {
  const [problem] = originProblems('https://a.example', 'https://b.example', ['X-Key'], undefined);
  expect(problem?.message).toBe('Give the value of X-Key again, or leave the header out: the URL has another scheme, host or port.');
});
