import fc from 'fast-check';
import { Deck, Draw, Rota, hash, stream, uuid } from '../src/random.ts';

const word = fc.nat(0xffff_ffff);

test('an id depends on each of its four keys, and on nothing else', () => {
  fc.assert(
    fc.property(word, word, word, word, fc.nat(3), fc.nat(31), (seed, of, a, b, which, bit) => {
      const keys: [number, number, number, number] = [seed, of, a, b];
      const other: [number, number, number, number] = [...keys];
      other[which] = (other[which]! ^ (1 << bit)) >>> 0;
      expect(uuid(...keys)).toBe(uuid(...keys));
      expect(uuid(...other)).not.toBe(uuid(...keys));
      expect(uuid(...keys)).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    }),
  );
});

test('a hundred thousand adjacent keys give distinct ids and evenly distributed hashes', () => {
  const of = stream('test');
  const ids = new Set<string>();
  const eighths = Array.from({ length: 8 }, () => 0);
  for (let a = 0; a < 50_000; a++) {
    for (const b of [0, 1]) ids.add(uuid(7, of, a, b));
    eighths[hash(7, of, a) % 8]!++;
  }
  expect(ids.size).toBe(100_000);
  for (const count of eighths) expect(Math.abs(count - 6_250)).toBeLessThan(400);
});

test('draws stay within their bounds', () => {
  fc.assert(
    fc.property(word, fc.integer({ min: -1000, max: 1000 }), fc.nat(1000), (seed, low, span) => {
      const draw = new Draw(seed, stream('bounds'), 0);
      for (let i = 0; i < 50; i++) {
        const value = draw.between(low, low + span);
        expect(value >= low && value <= low + span).toBe(true);
      }
    }),
  );
});

test('a rota deals every value exactly as often as its weight in each of its runs', () => {
  const weights = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(word, weights, fc.nat(1000), (seed, counts, run) => {
      const rota = new Rota(
        'test',
        counts.map((weight, value) => [value, weight] as const),
      );
      const dealt = counts.map(() => 0);
      for (let i = 0; i < rota.length; i++) dealt[rota.at(seed, run * rota.length + i)]!++;
      expect(dealt).toEqual(counts);
    }),
  );
});

test('a deck knows the total of all counts before a record', () => {
  const weights = fc.dictionary(fc.nat(5).map(String), fc.integer({ min: 1, max: 6 }), { minKeys: 1, maxKeys: 5 });
  fc.assert(
    fc.property(weights, (given) => {
      const deck = new Deck(given);
      let sum = 0;
      for (let n = 0; n < 100; n++) {
        expect(deck.before(n)).toBe(sum);
        sum += deck.count(n);
      }
    }),
  );
});
