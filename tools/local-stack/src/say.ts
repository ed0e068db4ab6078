/** Progress goes to standard error, so that standard output holds only results for scripts. */
export type Say = (line: string) => void;

export const say: Say = (line) => void process.stderr.write(`${line}\n`);

export const silent: Say = () => undefined;

/** Time since `startedAt` (a `performance.now()`), as "1.2 s". */
export function since(startedAt: number): string {
  return `${((performance.now() - startedAt) / 1000).toFixed(1)} s`;
}
