import { encodedTogether } from '../src/names.ts';

describe('names that are kept in memory', () => {
  it('are those that were given, in UTF-8', () => {
    const names = ['Núñez Household', '', '水道 🚰', 'Ada'];
    expect(encodedTogether(names).map((bytes) => Buffer.from(bytes).toString())).toEqual(names);
  });

  it('keep no memory but their own: not that which Node shares among small buffers', () => {
    const [first, second] = encodedTogether(['Ada', 'Grace']);
    expect(first?.buffer.byteLength).toBe(8);
    expect(second?.buffer).toBe(first?.buffer);
  });
});
