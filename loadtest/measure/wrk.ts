// Makes load with wrk, which uses a tenth of the CPU time that Node would, on the same two cores.
import { spawn, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Problem } from '@truckroll/local-stack';
import type { Latency } from './latency.ts';

export interface Target {
  readonly path: string;
  /** The header that authenticates the caller. */
  readonly header: readonly [name: string, value: string];
}

interface Load {
  readonly port: number;
  readonly connections: number;
  readonly seconds: number;
}

export interface Outcome extends Latency {
  readonly requests: number;
  readonly perSecond: number;
  /** Mean size of an answer with its headers. */
  readonly bytes: number;
}

/** Throws Problem if wrk is missing. */
export function requireWrk(): void {
  if (spawnSync('wrk', ['-v'], { stdio: 'ignore' }).error === undefined) return;
  const how = process.platform === 'darwin' ? 'brew install wrk' : 'sudo apt-get install wrk';
  throw new Problem(`wrk, which makes the load, is missing: install it (${how}).`);
}

/** Writes a file for requests.lua and returns its path. */
export function writeTargets(file: string, targets: readonly Target[]): string {
  writeFileSync(file, targets.map(({ path, header }) => `${path}\t${header.join('\t')}\n`).join(''), { mode: 0o600 });
  return file;
}

/** Throws if any request failed or was rejected, because such a run measures something else. Each script says what its arguments are. */
export async function runWrk(script: 'requests.lua' | 'writes.lua', own: readonly string[], { port, connections, seconds }: Load): Promise<Outcome> {
  const options = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '10s', '-s', join(import.meta.dirname, script)];
  const child = spawn('wrk', [...options, `http://127.0.0.1:${port}`, '--', ...own], { stdio: ['ignore', 'pipe', 'inherit'] });
  const stop = (): void => void child.kill();
  process.once('exit', stop);
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  const code = await new Promise((resolve, reject) => child.once('error', reject).once('close', resolve));
  process.off('exit', stop);
  const line = output.split('\n').find((text) => text.startsWith('{'));
  if (code !== 0 || line === undefined) throw new Error(`wrk ended with ${String(code)}: ${output}`);
  const result = JSON.parse(line) as Record<'requests' | 'microseconds' | 'bytes' | 'p50' | 'p99' | 'failed' | 'refused', number>;
  if (result.failed + result.refused > 0 || result.requests === 0) throw new Error(`not every request was answered: ${line}`);
  const { requests, microseconds, bytes, p50, p99 } = result;
  return { requests, perSecond: (requests / microseconds) * 1e6, p50: p50 / 1000, p99: p99 / 1000, bytes: bytes / requests };
}
