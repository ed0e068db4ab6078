import { Draw, stream } from './keyed.ts';

const ORDER = stream('order of a deck');

/** Child counts dealt in one fixed cycle. The total before any record is known without making it, so children can be numbered. */
export class Deck {
  readonly #counts: readonly number[];
  readonly #before: readonly number[];
  readonly #total: number;

  readonly #singles: number;

  /** Records from number `singles` on have one child each. */
  constructor(weights: readonly (readonly [count: number, weight: number])[], singles = Infinity) {
    this.#singles = singles;
    const draw = new Draw(0, ORDER, 0);
    const cards = weights.flatMap(([count, weight]) => Array.from({ length: weight }, () => ({ count, order: draw.next() }))).sort((x, y) => x.order - y.order);
    let total = 0;
    this.#counts = cards.map(({ count }) => count);
    this.#before = this.#counts.map((count) => (total += count) - count);
    this.#total = total;
  }

  count(n: number): number {
    return n < this.#singles ? (this.#counts[n % this.#counts.length] as number) : 1;
  }

  before(n: number): number {
    if (n > this.#singles) return this.before(this.#singles) + n - this.#singles;
    return Math.floor(n / this.#counts.length) * this.#total + (this.#before[n % this.#counts.length] as number);
  }
}
