import { idsIn } from '../src/index.ts';

const [ONE, TWO] = ['11111111-1111-4111-8111-111111111111', '2222aaaa-bbbb-4ccc-8ddd-eeeeffff0000'];
const found = (...texts: string[]): string[] => idsIn(texts.map((text) => Buffer.from(text)));

test('finds each id once, wherever it is in a document', () => {
  expect(found(ONE, `x${ONE}\n$${TWO}`, '')).toEqual([ONE, TWO]);
  expect(idsIn([Buffer.concat([Buffer.from([0, 255, 36]), Buffer.from(TWO), Buffer.from([255])])])).toEqual([TWO]);
  expect(found(`-${ONE}-${TWO}`, `2026-11-${ONE}`)).toEqual([ONE, TWO]);
});

test.each(['', ONE.slice(1), ONE.slice(0, -1), `g${ONE.slice(1)}`, `${ONE.slice(0, -1)}g`, ONE.replaceAll('-', ''), '--------------------------'])(
  'finds none in %j',
  (text) => {
    expect(found(text)).toEqual([]);
  },
);
