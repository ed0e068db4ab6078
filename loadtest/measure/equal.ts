// Checks that both sides give the same answers before anything is measured.
import { isDeepStrictEqual } from 'node:util';
import { Problem } from '@truckroll/local-stack';
import { getJson, type Pair } from '../data/targets.ts';

interface Ports {
  readonly system: number;
  readonly baseline: number;
}

/** Compares the bodies of `count` evenly spaced pairs. Throws Problem with the first difference. */
export async function requireEqual(ports: Ports, pairs: readonly Pair[], count: number): Promise<number> {
  const step = Math.max(1, Math.floor(pairs.length / count));
  let compared = 0;
  for (let at = 0; at < pairs.length; at += step) {
    const pair = pairs[at] as Pair;
    const [system, baseline] = await Promise.all([body(ports.system, pair.system), body(ports.baseline, pair.baseline)]);
    if (!isDeepStrictEqual(system, baseline)) {
      // Ages are counted in days: midnight may pass between the two answers, but not twice.
      const again = await Promise.all([body(ports.system, pair.system), body(ports.baseline, pair.baseline)]);
      if (!isDeepStrictEqual(...again)) throw new Problem(`Nothing was measured: the bodies of ${pair.baseline.path} differ. ${difference(...again)}`);
    }
    compared += 1;
  }
  return compared;
}

/** The body without the parts that each side generates itself: meta, and the cursor's text. */
async function body(port: number, target: Pair['system']): Promise<unknown> {
  const { meta, pagination, ...rest } = await getJson<Record<string, unknown>>(port, target);
  const cursor = (pagination as { next_cursor: unknown } | undefined)?.next_cursor;
  return { ...rest, meta: Object.keys(meta as object), pagination: cursor === undefined ? undefined : typeof cursor };
}

function difference(a: unknown, b: unknown, path = '$'): string {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) {
    return `At ${path} the system has ${JSON.stringify(a)} and the baseline ${JSON.stringify(b)}.`;
  }
  const [left, right] = [a, b] as Record<string, unknown>[] as [Record<string, unknown>, Record<string, unknown>];
  for (const key of new Set([...Object.keys(left), ...Object.keys(right)])) {
    if (!isDeepStrictEqual(left[key], right[key])) return difference(left[key], right[key], `${path}.${key}`);
  }
  return `At ${path} the kinds differ.`;
}
