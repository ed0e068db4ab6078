import type { IncomingMessage } from 'node:http';
import type { ApiError } from '@truckroll/contract';
import { checkSingleHeaders, singleHeader } from '../src/http/single-headers.ts';

/** A request with these header lines, of which Node keeps the first Host in `headers`. */
function request(lines: readonly [string, string][], httpVersion = '1.1'): IncomingMessage {
  const host = lines.find(([name]) => name.toLowerCase() === 'host')?.[1];
  return { rawHeaders: lines.flat(), headers: host === undefined ? {} : { host }, httpVersion } as IncomingMessage;
}

function problemsOf(message: IncomingMessage): string[] {
  try {
    checkSingleHeaders(message);
    return [];
  } catch (error) {
    const { status, details } = error as ApiError;
    expect(details).not.toEqual([]);
    return details.map(({ location, field, code, message: text }) => `${status} ${location} ${field} ${code}: ${text}`);
  }
}

const HOST: [string, string] = ['Host', 'api.example.com'];

describe('a request', () => {
  test.each<[string, IncomingMessage]>([
    ['one Host', request([HOST])],
    ['one Host and one Authorization', request([HOST, ['Authorization', 'Bearer a']])],
    ['several of another header', request([HOST, ['Accept', 'a'], ['Accept', 'b']])],
    ['header values that equal these names', request([HOST, ['X-Names', 'Host'], ['X-Names', 'authorization']])],
    ['names of the same length', request([HOST, ['Date', 'a'], ['Hosts', 'b']])],
    ['no Host under HTTP/1.0', request([], '1.0')],
  ])('may have %s', (_, message) => {
    expect(problemsOf(message)).toEqual([]);
  });

  test.each<[string, IncomingMessage, string[]]>([
    ['no Host under HTTP/1.1', request([]), ['400 header Host MISSING: Send the header Host, as HTTP/1.1 requires.']],
    ['an empty Host', request([['Host', '']]), ['400 header Host EMPTY_VALUE: Send the header Host with the name or address that you call.']],
    [
      'an empty Host under HTTP/1.0',
      request([['host', '']], '1.0'),
      ['400 header Host EMPTY_VALUE: Send the header Host with the name or address that you call.'],
    ],
    ['two Hosts', request([HOST, ['hOST', 'other.example.com']]), ['400 header Host REPEATED_PARAMETER: Send the header Host once.']],
    ['the same Host three times', request([HOST, HOST, HOST]), ['400 header Host REPEATED_PARAMETER: Send the header Host once.']],
    [
      'two Authorizations',
      request([HOST, ['authorization', 'Bearer a'], ['AUTHORIZATION', 'Bearer a']]),
      ['400 header Authorization REPEATED_PARAMETER: Send the header Authorization once.'],
    ],
    [
      'two empty Hosts',
      request([
        ['Host', ''],
        ['Host', ''],
      ]),
      [
        '400 header Host REPEATED_PARAMETER: Send the header Host once.',
        '400 header Host EMPTY_VALUE: Send the header Host with the name or address that you call.',
      ],
    ],
  ])('is rejected for %s', (_, message, problems) => {
    expect(problemsOf(message)).toEqual(problems);
  });
});

describe('the only header of a name', () => {
  test.each<[string, [string, string][], string | undefined]>([
    ['is found in whatever case it is written', [HOST, ['AuthoriZation', 'Bearer a'], ['Accept', 'b']], 'Bearer a'],
    ['may be empty', [['Authorization', '']], ''],
    ['is undefined where there is none', [HOST], undefined],
    ['is undefined where there are two', [['Authorization', 'Bearer a'], HOST, ['authorization', 'Bearer b']], undefined],
    ['is not another one of the same length', [['Authorizatiom', 'Bearer a']], undefined],
    ['is not a longer one', [['Authorizations', 'Bearer a']], undefined],
    ['is not a value', [['X-Name', 'authorization']], undefined],
  ])('%s', (_, lines, expected) => {
    expect(singleHeader(request(lines), 'authorization')).toBe(expected);
  });
});
