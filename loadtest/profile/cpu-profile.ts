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

interface Stack {
  readonly frames: readonly Frame[];
  readonly micros: number;
}

/** An interval of process.hrtime, in µs. */
interface Window {
  readonly from: number;
  readonly to: number;
}

export const microsNow = (): number => Number(process.hrtime.bigint() / 1000n);

/** Stacks of a process within the window, without idle time. Throws if the folder has no profile of it. */
export function readStacks(folder: string, pid: number, { from, to }: Window): Stack[] {
  // CPU.<date>.<time>.<pid>.<thread>.<number>.cpuprofile
  const file = readdirSync(folder).find((name) => name.split('.')[3] === String(pid) && name.endsWith('.cpuprofile'));
  if (file === undefined) throw new Error(`process ${pid} left no profile in ${folder}`);
  const profile = JSON.parse(readFileSync(join(folder, file), 'utf8')) as Profile;
  const micros = new Map<number, number>();
  let at = profile.startTime;
  profile.samples.forEach((id, index) => {
    at += profile.timeDeltas[index] as number;
    // A sample covers the time until the next one.
    if (at >= from && at < to) micros.set(id, (micros.get(id) ?? 0) + (profile.timeDeltas[index + 1] ?? 0));
  });
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
  const parents = new Map(profile.nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)));
  return [...micros].flatMap(([leaf, time]): Stack[] => {
    const frames: Frame[] = [];
    for (let id: number | undefined = leaf; id !== undefined; id = parents.get(id)) {
      const { callFrame } = nodes.get(id) as Profile['nodes'][number];
      if (callFrame.functionName !== '(root)') frames.unshift(callFrame);
    }
    return frames.at(-1)?.functionName === '(idle)' ? [] : [{ frames, micros: time }];
  });
}

const LIBRARY = /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//;
const OURS = /\/(packages\/[^/]+|services\/[^/]+\/src\/[^/]+|gateway\/src\/[^/]+)/;

const OUTSIDE: Readonly<Record<string, string>> = {
  '(garbage collector)': 'garbage collection',
  '(program)': 'outside JavaScript: system calls, parsers',
};

function groupOf(frames: readonly Frame[]): string {
  const outside = OUTSIDE[frames.at(-1)?.functionName ?? ''];
  if (outside !== undefined) return outside;
  for (const { url } of frames.toReversed()) {
    const found = LIBRARY.exec(url)?.[1] ?? OURS.exec(url)?.[1];
    if (found !== undefined) return found;
  }
  return 'Node: other';
}

/** A line for each group, largest first; their microseconds add up to `all`. */
export function byGroup(stacks: readonly Stack[], all: number): string {
  const sum = stacks.reduce((total, { micros }) => total + micros, 0);
  const groups = [...Map.groupBy(stacks, ({ frames }) => groupOf(frames))].map(
    ([name, of]) => [name, of.reduce((total, { micros }) => total + micros, 0)] as const,
  );
  const lines = groups.toSorted(([, a], [, b]) => b - a).map(([name, micros]) => `  ${((all * micros) / sum).toFixed(1).padStart(8)}  ${name}\n`);
  return lines.join('');
}
