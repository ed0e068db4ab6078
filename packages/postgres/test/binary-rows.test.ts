import fc from 'fast-check';
import { createSplitter } from '../src/driver/binary-rows.ts';
import type { BinaryRow } from '../src/statement.ts';

type Message = { type: 'row'; fields: (Buffer | null)[] } | { type: 'other'; bytes: Buffer };

function encode(message: Message): Buffer {
  if (message.type === 'other') return framed('C', message.bytes);
  const count = Buffer.alloc(2);
  count.writeUInt16BE(message.fields.length);
  const fields = message.fields.flatMap((field) => {
    const length = Buffer.alloc(4);
    length.writeInt32BE(field === null ? -1 : field.length);
    return field === null ? [length] : [length, field];
  });
  return framed('D', Buffer.concat([count, ...fields]));
}

function framed(type: string, body: Buffer): Buffer {
  const head = Buffer.alloc(5, type);
  head.writeUInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const borders = [0, ...places.map((place) => place % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
  return borders.slice(1).map((end, index) => bytes.subarray(borders[index], end));
}

const bytes = fc.uint8Array({ maxLength: 40 }).map((array) => Buffer.from(array));
const message: fc.Arbitrary<Message> = fc.oneof(
  fc.record({ type: fc.constant('row' as const), fields: fc.array(fc.option(bytes), { maxLength: 4 }) }),
  fc.record({ type: fc.constant('other' as const), bytes }),
);

test('createSplitter keeps binary rows and other messages complete and in order, wherever the stream is cut', () => {
  fc.assert(
    fc.property(fc.array(message, { maxLength: 12 }), fc.array(fc.nat(), { maxLength: 8 }), (messages, places) => {
      const out: (string | Buffer)[] = [];
      const rows = { push: (row: BinaryRow) => out.push(shown(row)) } as unknown as BinaryRow[];
      const split = createSplitter(
        () => rows,
        (rest) => out.push(rest),
      );
      for (const chunk of cut(Buffer.concat(messages.map(encode)), places)) split(chunk);
      expect(joined(out)).toEqual(
        joined(messages.map((item) => (item.type === 'row' ? JSON.stringify(item.fields.map((field) => field?.toString('hex') ?? null)) : encode(item)))),
      );
    }),
  );
});

test('createSplitter passes rows of text results through unchanged', () => {
  fc.assert(
    fc.property(fc.array(message, { maxLength: 12 }), fc.array(fc.nat(), { maxLength: 8 }), (messages, places) => {
      const stream = Buffer.concat(messages.map(encode));
      const rest: Buffer[] = [];
      const split = createSplitter(
        () => undefined,
        (part) => rest.push(part),
      );
      for (const chunk of cut(stream, places)) split(chunk);
      expect(Buffer.concat(rest)).toEqual(stream);
    }),
  );
});

function shown(row: BinaryRow): string {
  return JSON.stringify(row.map((field) => field?.toString('hex') ?? null));
}

/** Joins adjacent bytes, which may be split anywhere; only their order relative to rows matters. */
function joined(parts: readonly (string | Buffer)[]): string[] {
  return parts.reduce<string[]>((all, part) => {
    if (typeof part === 'string') return [...all, part];
    const last = all.at(-1);
    return last?.startsWith('=') ? [...all.slice(0, -1), last + part.toString('hex')] : [...all, `=${part.toString('hex')}`];
  }, []);
}
