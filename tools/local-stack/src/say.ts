/** Progress goes to standard error, so that what a command prints for scripts stays alone on standard output. */
export type Say = (line: string) => void;

export const say: Say = (line) => void process.stderr.write(`${line}\n`);

export const silent: Say = () => undefined;

/** "1.2 s"; of the time since a `performance.now()`. */
export function since(startedAt: number): string {
  return `${((performance.now() - startedAt) / 1000).toFixed(1)} s`;
}
