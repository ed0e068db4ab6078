import { setTimeout as delay } from 'node:timers/promises';

const EVERY_MS = 100;

/** Resolves when the condition holds. Rejects after the limit, which only a hang exceeds. */
export async function untilTrue(what: string, condition: () => Promise<boolean> | boolean, limitMs = 120_000): Promise<void> {
  for (const startedAt = performance.now(); !(await condition()); ) {
    if (performance.now() - startedAt > limitMs) throw new Error(`${what}: not after ${limitMs / 1000} s`);
    await delay(EVERY_MS);
  }
}
