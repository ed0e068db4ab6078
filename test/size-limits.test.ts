// docs/reference/limits.md lists all sizes that clients can reach: every operation of the contract keeps to them, new ones included.
import { readFileSync } from 'node:fs';
import { JsonBuffer, codec, operations, type Field, type Operation, type Shape } from '@truckroll/contract';
import { MOST_BYTES as FEED_PAGE } from '../gateway/src/changes/feed.ts';
import { MOST_BODY_BYTES } from '../gateway/src/http/body.ts';
import { compileEnvelope } from '../gateway/src/http/envelope.ts';
import { MOST_HEADER_BYTES } from '../gateway/src/http/server.ts';
import { MOST_UNSENT } from '../gateway/src/http/unanswered.ts';
import { MOST_OF_COMPANY, UNREAD_MS } from '../gateway/src/http/unsent.ts';
import { LARGEST_MESSAGE } from '../packages/grpc/src/options.ts';
import { LARGEST_RECORD, LARGE_DOCUMENT, PAGE_BYTES } from '../packages/record-store/src/large.ts';
import { LONGEST_NAME } from '../packages/record-store/src/names.ts';

const page = readFileSync(new URL('../docs/reference/limits.md', import.meta.url), 'utf8');
const rows = new Map([...page.matchAll(/^\| (.+?) \| (.+?) \|/gm)].map(([, what, limit]) => [what!, limit!]));
const UNITS: Readonly<Record<string, number>> = { MB: 1e6, MiB: 1024 ** 2, KB: 1024, KiB: 1024, s: 1000, characters: 1 };

/** The documented limit of what begins like this, in bytes, characters or ms. */
function documented(what: string): number {
  const [, limit = ''] = [...rows].find(([label]) => label.startsWith(what)) ?? [];
  const [, number = '', unit = ''] = /^([\d,]+) (\w+)/.exec(limit) ?? [];
  return Number(number.replaceAll(',', '')) * UNITS[unit]!;
}

test.each([
  ['page of a list or report under `/v1`', PAGE_BYTES],
  ['page of the change feed', FEED_PAGE],
  ['stored record', LARGEST_RECORD],
  ['name of a record where others refer to it', LONGEST_NAME],
  ['answer between two components', LARGEST_MESSAGE],
  ['path, query and headers of a request', MOST_HEADER_BYTES],
  ['body of a request', MOST_BODY_BYTES],
  ['unsent answers on a connection', MOST_UNSENT],
  ['unsent answers of a company', MOST_OF_COMPANY],
  ['time in which a client takes nothing', UNREAD_MS],
])('documents the limit of a %s', (what, limit) => {
  expect(documented(what)).toBe(limit);
});

test('documents the size from which details are read one by one', () => {
  expect(page).toContain(`above ${LARGE_DOCUMENT / 1024} KiB`);
});

const isList = ({ response }: Operation): boolean => response.byName.get('data')?.repeated === true;
const isPaged = ({ response }: Operation): boolean => response.byName.has('next');

test('documents what limits each list without a cursor', () => {
  const others = operations.filter((operation) => isList(operation) && !isPaged(operation) && operation.name !== 'ListChanges');
  const named = [...rows.keys()].flatMap((what) => /^`((?:GET|POST) .+)`$/.exec(what)?.[1] ?? []);
  expect(others.map(({ verb, route }) => `${verb} ${route}`).toSorted()).toEqual(named.toSorted());
});

/** A message with a value in every field, and texts of this length where the contract allows it. */
function largest({ fields }: Shape, length: number, depth = 0): Record<string, unknown> {
  const valueOf = ({ kind, shape, enum: names, range }: Field): unknown => {
    if (shape !== undefined) return depth > 3 ? undefined : largest(shape, length, depth + 1);
    if (kind === 'enum') return [...names!.spellings.keys()].at(-1);
    if (kind === 'string') return 'x'.repeat(Math.min(length, range?.maxLength ?? length));
    if (kind === 'json') return `{"x":"${'x'.repeat(length)}"}`;
    if (kind === 'boolean') return true;
    if (kind === 'bytes' || kind === 'cursor') return Buffer.alloc(0);
    if (kind === 'uuid') return '0b8f3c1e-7a52-4c6d-9e10-2f4a5b6c7d8e';
    return kind === 'date' || kind === 'local_date' ? '2026-03-01' : 1;
  };
  const present = fields.map((field): [string, unknown] => [
    field.name,
    field.repeated ? [valueOf(field)].filter((value) => value !== undefined) : valueOf(field),
  ]);
  return Object.fromEntries(present.filter(([, value]) => value !== undefined));
}

/** A record of about `bytes`, of which its texts have equal shares. */
function recordOf(shape: Shape, bytes: number): Record<string, unknown> {
  const sizeOf = (length: number): number => codec(shape.typeName).encode(largest(shape, length)).finish().length;
  const texts = (sizeOf(3000) - sizeOf(2000)) / 1000;
  return largest(shape, Math.ceil(bytes / texts));
}

describe('the largest page', () => {
  const paged = operations.filter((operation) => isList(operation) && isPaged(operation));
  test('exists', () => expect(paged.length).toBeGreaterThan(30));

  test.each(paged.map((operation) => [operation.route, operation] as const))('of %s ends at its limit', (_, operation) => {
    const limit = documented(operation.camelCase ? 'page of a list with a cursor under `/api/v1`' : 'page of a list or report under `/v1`');
    const { response, camelCase: camel } = operation;
    const { encode } = codec(response.typeName);
    const others = largest(response, 100);
    const record = recordOf(response.byName.get('data')!.shape!, limit / 50);
    const write = compileEnvelope(operation);
    const answer = (count: number) => {
      const out = new JsonBuffer();
      const bytes = encode({ ...others, data: Array.from({ length: count }, () => record), next: Buffer.from('next') }).finish();
      return { fitting: write(Buffer.from(bytes), { meta: () => '{}', seal: () => 'sealed' }, out), text: out.view().toString('latin1') };
    };
    const { fitting } = answer(60);
    expect(fitting).toBeGreaterThanOrEqual(1);
    const shorter = answer(fitting!);
    expect([shorter.fitting, shorter.text.length <= limit + 1000]).toEqual([undefined, true]);
    expect((JSON.parse(shorter.text) as { pagination: object }).pagination).toEqual({ [camel ? 'nextCursor' : 'next_cursor']: 'sealed' });
  });
});
