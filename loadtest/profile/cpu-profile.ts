// Processor profiles as `node --cpu-prof` writes them.
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

export interface Frame {
  readonly functionName: string;
  /** Empty for what is V8's own. */
  readonly url: string;
  /** From 0. */
  readonly lineNumber: number;
}

interface Profile {
  nodes: { id: number; callFrame: Frame; children?: number[] }[];
  /** Microseconds on the clock of process.hrtime, which every process of a machine shares on Linux. */
  startTime: number;
  /** Ids of nodes, and how long before each of them the one before it was. Microseconds. */
  samples: number[];
  timeDeltas: number[];
}

/** A call stack from the outermost function to the one that ran, with the time in it. */
export interface Stack {
  readonly frames: readonly Frame[];
  readonly micros: number;
}

/** Between two moments of process.hrtime, in microseconds. */
export interface Window {
  readonly from: number;
  readonly to: number;
}

export const microsNow = (): number => Number(process.hrtime.bigint() / 1000n);

/** What a process did within a window, idling left out. Throws where it left no profile in the folder. */
export function readStacks(folder: string, pid: number, { from, to }: Window): Stack[] {
  // CPU.<date>.<time>.<pid>.<thread>.<number>.cpuprofile
  const file = readdirSync(folder).find((name) => name.split('.')[3] === String(pid) && name.endsWith('.cpuprofile'));
  if (file === undefined) throw new Error(`process ${pid} left no profile in ${folder}`);
  const profile = JSON.parse(readFileSync(join(folder, file), 'utf8')) as Profile;
  const micros = new Map<number, number>();
  let at = profile.startTime;
  profile.samples.forEach((id, index) => {
    at += profile.timeDeltas[index] as number;
    // The time up to the next sample is this one's.
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
