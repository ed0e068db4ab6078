import { encodedTogether } from '../src/names.ts';

describe('encodedTogether', () => {
  test('returns the given names in UTF-8', () => {
    const names = ['Núñez Household', '', '水道 🚰', 'Ada'];
    expect(encodedTogether(names).map((bytes) => Buffer.from(bytes).toString())).toEqual(names);
  });

  test('stores them in their own memory, not in the pool that Node shares among small buffers', () => {
    const [first, second] = encodedTogether(['Ada', 'Grace']);
    expect(first?.buffer.byteLength).toBe(8);
    expect(second?.buffer).toBe(first?.buffer);
  });
});
