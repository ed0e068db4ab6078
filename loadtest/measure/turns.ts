// Runs what is compared in turn, so that disturbances affect all sides alike, and takes medians.

/** Runs each side once a round, beginning with another side in every round. Returns the results of each side, by round. */
export async function inTurn<Side extends string, T>(rounds: number, sides: Readonly<Record<Side, (round: number) => Promise<T>>>): Promise<Record<Side, T[]>> {
  const names = Object.keys(sides) as Side[];
  const results = Object.fromEntries(names.map((name) => [name, [] as T[]])) as Record<Side, T[]>;
  for (let round = 0; round < rounds; round++) {
    for (const turn of names.keys()) {
      const name = names[(round + turn) % names.length] as Side;
      results[name].push(await sides[name](round));
    }
  }
  return results;
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? (sorted[middle] as number) : ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2;
}

/** Median over rounds of a value ÷ the other side's in the same round. */
export function medianRatio<T>(ones: readonly T[], others: readonly T[], of: (one: T) => number): number {
  return median(ones.map((one, round) => of(one) / of(others[round] as T)));
}
