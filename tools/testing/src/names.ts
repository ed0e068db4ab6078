import { promises } from 'node:dns';

export interface LaterNames {
  readonly found: Promise<void>;
  restore(): void;
}

/** Makes the first `failures` look-ups of each `*.later.test` name in `dns.promises.lookup` (used by gRPC) fail. Later ones return 127.0.0.1. */
export function laterNames(failures: number): LaterNames {
  const { lookup } = promises;
  const { promise: found, resolve } = Promise.withResolvers<void>();
  const failed = new Map<string, number>();
  const later = async (name: string, options: object): Promise<unknown> => {
    if (!name.endsWith('.later.test')) return lookup(name, options);
    // A failure takes as long as a real look-up, so that the caller's next steps run before it.
    const answer = await lookup('localhost', { ...options, family: 4 });
    const before = failed.get(name) ?? 0;
    failed.set(name, before + 1);
    if (before < failures) throw Object.assign(new Error(`getaddrinfo ENOTFOUND ${name}`), { code: 'ENOTFOUND' });
    resolve();
    return answer;
  };
  promises.lookup = later as typeof lookup;
  return { found, restore: () => void (promises.lookup = lookup) };
}
