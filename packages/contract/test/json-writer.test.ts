import { JsonBuffer, JsonWriter, codec, shapeNamed, type SealCursor } from '../src/index.ts';

function written(typeName: string, bytes: Uint8Array, seal?: SealCursor): any {
  const out = new JsonBuffer(8);
  new JsonWriter('camel', seal).write(shapeNamed(typeName), bytes, 0, bytes.length, out);
  return JSON.parse(out.view().toString());
}
const ENDPOINT = 'truckroll.integrations.v1.UpdateWebhookRequest';
const NAME = [3 * 8 + 2, 1, 65];

test.each([
  ['varint', [0xf8, 0x3f, 0x80, 0x01]],
  ['64-bit', [0xf9, 0x3f, 1, 2, 3, 4, 5, 6, 7, 8]],
  ['32-bit', [0xfd, 0x3f, 1, 2, 3, 4]],
  ['text', [0xfa, 0x3f, 3, 65, 65, 65]],
  ['long text', [0xfa, 0x3f, 0x80, 0x01, ...Array.from({ length: 128 }, () => 65)]],
])('leaves out an unknown field with a %s, and writes the fields around it', (_, unknown) => {
  const bytes = Buffer.from([...unknown, ...NAME, ...unknown]);
  expect(written(ENDPOINT, bytes)).toMatchObject({ name: 'A', url: null });
});

test('rejects what proto3 does not write', () => {
  expect(() => written(ENDPOINT, Buffer.from([0xfb, 0x3f]))).toThrow('wire type 3');
});

test('writes lists that may be null: none, empty, and with values', () => {
  const of = (fields: object) =>
    codec(ENDPOINT)
      .encode({ ...(codec(ENDPOINT).decode(new Uint8Array()) as object), ...fields })
      .finish();
  expect(written(ENDPOINT, of({ event_types: undefined }))).toMatchObject({ eventTypes: null });
  expect(written(ENDPOINT, of({ event_types: { values: [] } }))).toMatchObject({ eventTypes: [] });
  expect(written(ENDPOINT, of({ event_types: { values: ['a', 'b'] }, enabled: false }))).toMatchObject({ eventTypes: ['a', 'b'], enabled: false });
});

test('writes an enumeration’s value of a newer release as UNRECOGNIZED', () => {
  expect(written(ENDPOINT, Buffer.from([7 * 8, 99]))).toMatchObject({ state: 'UNRECOGNIZED' });
  expect(written(ENDPOINT, Buffer.from([7 * 8, 0x80 | 99, 1]))).toMatchObject({ state: 'UNRECOGNIZED' });
});
