// Checks that both sides give the same answers before anything is measured.
import { deepStrictEqual } from 'node:assert';
import { isDeepStrictEqual } from 'node:util';
import { Problem } from '@truckroll/local-stack';
import { getJson, type Pair } from './targets.ts';

/** Compares the bodies of `count` evenly spaced pairs. Throws Problem with the first difference. */
export async function requireEqual(ports: Readonly<Record<keyof Pair, number>>, pairs: readonly Pair[], count: number): Promise<void> {
  const step = Math.max(1, Math.floor(pairs.length / count));
  for (let at = 0; at < pairs.length; at += step) {
    const pair = pairs[at] as Pair;
    const bodies = () => Promise.all([body(ports.system, pair.system), body(ports.baseline, pair.baseline)]);
    if (isDeepStrictEqual(...(await bodies()))) continue;
    // Ages are counted in days: midnight may pass between the two answers, but not twice.
    try {
      deepStrictEqual(...(await bodies()));
    } catch (error) {
      throw new Problem(`Nothing was measured: the bodies of ${pair.baseline.path} differ. ${(error as Error).message}`);
    }
  }
}

/** The body without the parts that each side generates itself: meta, and the cursor's text. */
async function body(port: number, target: Pair['system']): Promise<unknown> {
  const { meta, pagination, ...rest } = await getJson<Record<string, unknown>>(port, target);
  const cursor = (pagination as { next_cursor: unknown } | undefined)?.next_cursor;
  return { ...rest, meta: Object.keys(meta as object), pagination: cursor === undefined ? undefined : typeof cursor };
}
