import { Draw, hash, stream, type Stream } from './keyed.ts';

/**
 * Deals weighted values like cards: every aligned run of `length` records has each value exactly as often as its weight. So even
 * rare values occur in small companies, whatever the seed.
 */
export class Rota<T> {
  readonly #cards: readonly T[];
  readonly #stream: Stream;

  constructor(name: string, weights: readonly (readonly [value: T, weight: number])[]) {
    const cards = weights.flatMap(([value, weight]) => Array.from({ length: weight }, () => value));
    this.#stream = stream(`rota ${name}`);
    const draw = new Draw(0, this.#stream, 0);
    for (let i = cards.length - 1; i > 0; i--) {
      const j = draw.below(i + 1);
      [cards[i], cards[j]] = [cards[j] as T, cards[i] as T];
    }
    this.#cards = cards;
  }

  get length(): number {
    return this.#cards.length;
  }

  at(seed: number, n: number): T {
    const length = this.#cards.length;
    const run = Math.floor(n / length);
    return this.#cards[(n + (hash(seed, this.#stream, run) % length)) % length] as T;
  }
}
