import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

export interface Frame {
  readonly functionName: string;
  /** Empty for V8's internals. */
  readonly url: string;
  /** Counted from 0. */
  readonly lineNumber: number;
}

interface Profile {
  nodes: { id: number; callFrame: Frame; children?: number[] }[];
  /** Microseconds on process.hrtime's clock, which all processes share on Linux. */
  startTime: number;
  /** Node ids, and the µs between each sample and the previous one. */
  samples: number[];
  timeDeltas: number[];
}

export interface Stack {
  readonly frames: readonly Frame[];
  readonly micros: number;
}

/** An interval of process.hrtime, in µs. */
export interface Window {
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
