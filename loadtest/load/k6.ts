// Compiles k6 once, at the version of loadtest/k6/go.mod, and runs it.
import { spawn } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Problem, ROOT, STATE } from '@truckroll/local-stack';
import { goTools } from '../../scripts/go-tools.mjs';
import type { TestName } from '../k6/workloads/plan.ts';
import type { Summary } from './verdict.ts';

const SCRIPTS = join(ROOT, 'loadtest', 'k6');
/** Where runs leave what they need and find. */
export const FOLDER = join(STATE, 'load');
/** Exit codes of a completed run: all thresholds kept, or some crossed. */
const CROSSED = new Set([0, 99]);

/** Returns k6's path. Throws Problem if it cannot be compiled. */
export function requireK6(): string {
  try {
    return join(goTools({ module: SCRIPTS, name: 'truckroll-load-tools', purpose: 'Load is made' }), 'k6');
  } catch (error) {
    throw new Problem((error as Error).message);
  }
}

export interface Run {
  readonly k6: string;
  readonly test: TestName;
  /** File in k6/ that k6 runs. */
  readonly script?: 'suite' | 'stall';
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Part of the summary's file name, for simultaneous runs. */
  readonly name?: string;
  readonly core?: number | undefined;
  /** Whether to run at idle priority, for example when two generators share a core. */
  readonly yields?: boolean;
  readonly onStart?: (pid: number) => void;
  readonly shown?: boolean;
}

/** Resolves to the summary when k6 has ended, even if thresholds were crossed. Throws Problem on other exit codes. */
export async function runK6({ k6, test, script = 'suite', env, name = 'run', core, yields = false, onStart, shown = false }: Run): Promise<Summary> {
  const file = join(FOLDER, `summary-${process.pid}-${name}.json`);
  rmSync(file, { force: true });
  const args = ['run', '--quiet', '--no-color', '--no-usage-report', '--address', '', join(SCRIPTS, `${script}.ts`)];
  const onCore = core === undefined ? [] : ['taskset', '-c', String(core)];
  const [command = k6, ...rest] = [...(yields ? ['chrt', '--idle', '0'] : []), ...onCore, k6, ...args];
  // The verdict assumes that k6 has one core, whatever the machine.
  const child = spawn(command, rest, {
    stdio: ['ignore', shown ? 2 : 'ignore', 'pipe'],
    env: { ...process.env, GOMAXPROCS: '1', ...env, TEST: test, SUMMARY: file },
  });
  const stop = (): void => void child.kill();
  process.once('exit', stop);
  let said = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-4000);
    if (shown) process.stderr.write(text);
  });
  if (child.pid !== undefined) onStart?.(child.pid);
  const code = await new Promise<number | null>((resolve, reject) => child.once('error', reject).once('close', resolve));
  process.off('exit', stop);
  if (code === null || !CROSSED.has(code)) throw new Problem(`k6 ended with ${code}:\n${said}`);
  const summary = JSON.parse(readFileSync(file, 'utf8')) as Summary;
  rmSync(file);
  return summary;
}
