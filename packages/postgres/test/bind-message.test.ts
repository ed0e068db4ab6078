import type { Writable } from 'node:stream';
import { sendLargeValues, type Binding, type BindingConnection } from '../src/driver/large-values.ts';

const LARGE = Buffer.alloc(16_384, 7);

function send(binding: Partial<Binding>, writable = true): { written: Buffer[]; left: Binding[] } {
  const [written, left]: [Buffer[], Binding[]] = [[], []];
  const stream = { writable, write: (chunk: Buffer) => written.push(chunk) } as unknown as Writable;
  const connection: BindingConnection = { stream, bind: (each) => void left.push(each) };
  sendLargeValues(connection);
  connection.bind({ valueMapper: (value) => value as Buffer | string | null | undefined, ...binding });
  return { written, left };
}

test('writes a Bind message of the protocol with large values, nulls and texts', () => {
  const { written, left } = send({ portal: 'p', statement: 'read', binary: true, values: [LARGE, null, 'é', undefined, ''] });
  const head = Buffer.concat([
    Buffer.from('p\0read\0'),
    // Formats of the five parameters: binary for a buffer, text otherwise.
    Buffer.from('0005 0001 0000 0000 0000 0000 0005'.replaceAll(' ', ''), 'hex'),
  ]);
  const values = [Buffer.from('00004000', 'hex'), LARGE, Buffer.from('ffffffff 00000002c3a9 ffffffff 00000000'.replaceAll(' ', ''), 'hex')];
  const body = Buffer.concat([head, ...values, Buffer.from('00010001', 'hex')]);
  const length = Buffer.alloc(4);
  length.writeInt32BE(body.length + 4);
  expect(Buffer.concat(written).equals(Buffer.concat([Buffer.from('B'), length, body]))).toBe(true);
  expect(left).toEqual([]);
});

test('asks for results as text unless binary is requested, of the unnamed statement unless it has a name', () => {
  const message = Buffer.concat(send({ values: [LARGE] }).written);
  expect([message.toString('latin1', 5, 7), message.toString('hex', message.length - 4)]).toEqual(['\0\0', '00010000']);
});

test('encodes each value by its place', () => {
  const { written } = send({ values: [1, LARGE], valueMapper: (value, index) => (Buffer.isBuffer(value) ? value : `${index}:${value as number}`) });
  expect(Buffer.concat(written).includes(Buffer.from('\0\0\0\x030:1'))).toBe(true);
});

test('does not copy a large value', () => {
  expect(send({ values: [LARGE] }).written.some((piece) => piece.buffer === LARGE.buffer)).toBe(true);
});

test.each([
  ['no values', {}],
  ['an empty list', { values: [] }],
  ['small buffers', { values: [LARGE.subarray(1)] }],
  ['large texts', { values: ['a'.repeat(20_000)] }],
  ['lists and nulls', { values: [['a'], null, undefined] }],
] as [string, Partial<Binding>][])('leaves %s to pg', (_, binding) => {
  const { written, left } = send(binding);
  expect([written, left]).toEqual([[], [expect.objectContaining(binding)]]);
});

test('writes nothing to a connection that is closed', () => {
  expect(send({ values: [LARGE] }, false)).toEqual({ written: [], left: [] });
});
