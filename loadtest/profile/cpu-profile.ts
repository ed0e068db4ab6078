// Reads V8's profiles, and assigns the time of each stack to the package of its innermost function. Time in Node's own modules counts for the
// package that called them.
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

interface Frame {
  readonly functionName: string;
  /** Empty for V8's internals. */
  readonly url: string;
}

interface Profile {
  nodes: { id: number; callFrame: Frame; children?: number[] }[];
  /** Microseconds on process.hrtime's clock, which all processes share on Linux. */
  startTime: number;
  /** Node ids, and the µs between each sample and the previous one. */
  samples: number[];
  timeDeltas: number[];
}

interface Sampled {
  /** Package, or what V8 does. */
  readonly group: string;
  readonly micros: number;
}

export const microsNow = (): number => Number(process.hrtime.bigint() / 1000n);

/** Time of a process between two results of `microsNow`, without idle time. Throws if the folder has no profile of it. */
export function readStacks(folder: string, pid: number, from: number, to: number): Sampled[] {
  // CPU.<date>.<time>.<pid>.<thread>.<number>.cpuprofile
  const file = readdirSync(folder).find((name) => name.split('.')[3] === String(pid) && name.endsWith('.cpuprofile'));
  if (file === undefined) throw new Error(`process ${pid} left no profile in ${folder}`);
  const profile = JSON.parse(readFileSync(join(folder, file), 'utf8')) as Profile;
  const frames = new Map(profile.nodes.map(({ id, callFrame }) => [id, callFrame]));
  const parents = new Map(profile.nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)));
  function* stackOf(leaf: number): Generator<Frame> {
    for (let id: number | undefined = leaf; id !== undefined; id = parents.get(id)) yield frames.get(id) as Frame;
  }
  const sampled: Sampled[] = [];
  let at = profile.startTime;
  profile.samples.forEach((id, index) => {
    at += profile.timeDeltas[index] as number;
    if (at < from || at >= to || frames.get(id)?.functionName === '(idle)') return;
    // A sample covers the time until the next one.
    sampled.push({ group: groupOf([...stackOf(id)]), micros: profile.timeDeltas[index + 1] ?? 0 });
  });
  return sampled;
}

const LIBRARY = /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//;
const OURS = /\/(packages\/[^/]+|services\/[^/]+\/src\/[^/]+|gateway\/src\/[^/]+)/;

const OUTSIDE: ReadonlyMap<string, string> = new Map([
  ['(garbage collector)', 'garbage collection'],
  ['(program)', 'outside JavaScript: system calls, parsers'],
]);

/** `stack` begins with its innermost function. */
function groupOf(stack: readonly Frame[]): string {
  const outside = OUTSIDE.get(stack[0]?.functionName ?? '');
  if (outside !== undefined) return outside;
  for (const { url } of stack) {
    const found = LIBRARY.exec(url)?.[1] ?? OURS.exec(url)?.[1];
    if (found !== undefined) return found;
  }
  return 'Node: other';
}

/** A line for each group, largest first; their microseconds add up to `all`. */
export function byGroup(sampled: readonly Sampled[], all: number): string {
  const timeOf = (some: readonly Sampled[]): number => some.reduce((total, { micros }) => total + micros, 0);
  const scale = all / timeOf(sampled);
  const groups = [...Map.groupBy(sampled, ({ group }) => group)].map(([name, of]) => [name, scale * timeOf(of)] as const);
  return groups
    .toSorted(([, a], [, b]) => b - a)
    .map(([name, micros]) => `  ${micros.toFixed(1).padStart(8)}  ${name}\n`)
    .join('');
}
