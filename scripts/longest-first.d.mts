type Seconds = Readonly<Record<string, number>>;

export function longestFirst(paths: Iterable<string>, seconds: Seconds): string[];

export function withResults(
  seconds: Seconds,
  results: readonly { readonly path: string; readonly ms: number; readonly failed: boolean }[],
  exists: (path: string) => boolean,
): Seconds;
