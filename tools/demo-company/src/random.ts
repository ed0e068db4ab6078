/**
 * Everything in a demo company is a function of (seed, stream, a, b), so a company of any size needs the memory of one record. A
 * stream names what is being drawn (`stream('invoice lines')`).
 */

export type Stream = number;

/** FNV-1a of the name, the same in every run and on every machine. */
export function stream(name: string): Stream {
  let hash = 0x811c9dc5;
  for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}

let w0 = 0;
let w1 = 0;
let w2 = 0;
let w3 = 0;

/** Eight rounds of the 128-bit Chaskey permutation: distinct keys never collide. Leaves the result in w0…w3. */
function permute(seed: number, of: Stream, a: number, b: number): void {
  let v0 = seed ^ 0x6a09e667;
  let v1 = of ^ 0xbb67ae85;
  let v2 = a ^ 0x3c6ef372;
  let v3 = b ^ 0xa54ff53a;
  for (let round = 0; round < 8; round++) {
    v0 = (v0 + v1) | 0;
    v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
    v0 = (v0 << 16) | (v0 >>> 16);
    v2 = (v2 + v3) | 0;
    v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
    v0 = (v0 + v3) | 0;
    v3 = ((v3 << 13) | (v3 >>> 19)) ^ v0;
    v2 = (v2 + v1) | 0;
    v1 = ((v1 << 7) | (v1 >>> 25)) ^ v2;
    v2 = (v2 << 16) | (v2 >>> 16);
  }
  w0 = v0;
  w1 = v1;
  w2 = v2;
  w3 = v3;
}

export function hash(seed: number, of: Stream, a: number, b = 0): number {
  permute(seed, of, a, b);
  return w0 >>> 0;
}

const HEX = Array.from({ length: 65_536 }, (_, i) => i.toString(16).padStart(4, '0'));
const hex = (half: number): string => HEX[half & 0xffff] as string;

/** A lowercase UUID of version 8 (RFC 9562, custom format). */
export function uuid(seed: number, of: Stream, a: number, b = 0): string {
  permute(seed, of, a, b);
  return (
    `${hex(w0 >>> 16)}${hex(w0)}-${hex(w1 >>> 16)}-${hex((w1 & 0x0fff) | 0x8000)}` +
    `-${hex(((w2 >>> 16) & 0x3fff) | 0x8000)}-${hex(w2)}${hex(w3 >>> 16)}${hex(w3)}`
  );
}

/** A sequence of random numbers for one record: sfc32, seeded by the permutation. */
export class Draw {
  #a: number;
  #b: number;
  #c: number;
  #d: number;

  constructor(seed: number, of: Stream, a: number, b = 0) {
    permute(seed, of, a, b);
    this.#a = w0;
    this.#b = w1;
    this.#c = w2;
    this.#d = w3;
  }

  next(): number {
    const t = (((this.#a + this.#b) | 0) + this.#d) | 0;
    this.#d = (this.#d + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + t) | 0;
    return (t >>> 0) / 4_294_967_296;
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  below(bound: number): number {
    return Math.floor(this.next() * bound);
  }

  /** An integer in [low, high], inclusive. */
  between(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1));
  }

  pick<T>(list: readonly T[]): T {
    return list[Math.floor(this.next() * list.length)] as T;
  }

  /** Null with the given probability, else the value. The caller computes the value either way, so that draws stay aligned. */
  orNull<T>(probabilityOfNull: number, value: T): T | null {
    return this.next() < probabilityOfNull ? null : value;
  }
}

/** The id of a record, or of a part of it. */
export const idOf = ({ seed }: { readonly seed: number }, kind: Stream, a: number, b = 0): string => uuid(seed, kind, a, b);

export const drawOf = ({ seed }: { readonly seed: number }, kind: Stream, a: number, b = 0): Draw => new Draw(seed, kind, a, b);

/** Weights by value. */
export type Weights = Readonly<Record<number, number>>;

const pairsOf = (weights: Weights) => Object.entries(weights).map(([value, weight]) => [Number(value), weight] as const);

const ORDER = stream('order of a deck');

/** Child counts dealt in one fixed cycle. The total before any record is known without making it, so children can be numbered. */
export class Deck {
  readonly #counts: readonly number[];
  readonly #before: readonly number[];
  readonly #total: number;

  readonly #singles: number;

  /** Records from number `singles` on have one child each. */
  constructor(weights: Weights, singles = Infinity) {
    this.#singles = singles;
    const draw = new Draw(0, ORDER, 0);
    const cards = pairsOf(weights)
      .flatMap(([count, weight]) => Array.from({ length: weight }, () => ({ count, order: draw.next() })))
      .sort((x, y) => x.order - y.order);
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

/**
 * Deals weighted values like cards: every aligned run of `length` records has each value exactly as often as its weight. So even
 * rare values occur in small companies, whatever the seed.
 */
export class Rota<T> {
  readonly #cards: readonly T[];
  readonly #stream: Stream;

  /** Weights by value, as an object if all values are texts. */
  constructor(name: string, weights: readonly (readonly [value: T, weight: number])[] | Readonly<Partial<Record<T & string, number>>>) {
    const pairs = Array.isArray(weights) ? weights : Object.entries(weights);
    const cards = (pairs as readonly (readonly [T, number])[]).flatMap(([value, weight]) => Array.from({ length: weight }, () => value));
    this.#stream = stream(`rota ${name}`);
    const draw = new Draw(0, this.#stream, 0);
    for (let i = cards.length - 1; i > 0; i--) {
      const j = draw.below(i + 1);
      [cards[i], cards[j]] = [cards[j] as T, cards[i] as T];
    }
    this.#cards = cards;
  }

  static ofNumbers(name: string, weights: Weights): Rota<number> {
    return new Rota(name, pairsOf(weights));
  }

  /** True for one of `length` records. */
  static oneIn(length: number, name: string): Rota<boolean> {
    return new Rota<boolean>(name, [
      [true, 1],
      [false, length - 1],
    ]);
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
