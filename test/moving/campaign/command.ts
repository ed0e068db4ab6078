// `truckroll company move` in its own process, which can be killed.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { ROOT } from '@truckroll/local-stack';
import type { Installation } from '../../faults/system/installation.ts';

export interface Outcome {
  /** Null if it was killed. */
  readonly code: number | null;
  /** What it said last. */
  readonly last: string;
}

export class MoveCommand {
  #kill: () => void = () => undefined;

  /** `said` is called with each line of its notes. */
  async run(from: Installation, to: Installation, companyId: string, args: readonly string[], said: (line: string) => void): Promise<Outcome> {
    const there = Object.fromEntries(Object.entries(to.operator).map(([name, value]) => [`TO_${name}`, value]));
    const { PATH, NODE_COMPILE_CACHE } = from.prepared.environment;
    const child = spawn(process.execPath, [join(ROOT, 'tools/cli/src/main.ts'), 'company', 'move', companyId, ...args], {
      cwd: from.folder,
      env: { PATH, NODE_COMPILE_CACHE, ...from.operator, ...there },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#kill = () => void child.kill('SIGKILL');
    const exited = once(child, 'exit');
    let last = '';
    const read = async (lines: NodeJS.ReadableStream, seen: (line: string) => void): Promise<void> => {
      for await (const line of createInterface({ input: lines })) {
        if (line.trim() === '') continue;
        last = line;
        seen(line);
      }
    };
    await Promise.all([read(child.stderr, said), read(child.stdout, () => undefined)]);
    const [code] = (await exited) as [number | null];
    return { code, last };
  }

  kill(): void {
    this.#kill();
  }
}
