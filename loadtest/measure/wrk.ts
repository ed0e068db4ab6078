// Makes load with wrk, which uses a tenth of the CPU time that Node would, on the same two cores.
import { spawn, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Problem, say } from '@truckroll/local-stack';

const SCRIPT = join(import.meta.dirname, 'requests.lua');
const WRITES = join(import.meta.dirname, 'writes.lua');

export interface Target {
  readonly path: string;
  /** The header that authenticates the caller. */
  readonly header: readonly [name: string, value: string];
}

export interface Load {
  readonly port: number;
  readonly file: string;
  readonly connections: number;
  readonly seconds: number;
  readonly seed: number;
}

interface Work extends Pick<Load, 'port' | 'connections' | 'seconds'> {
  readonly args: readonly string[];
}

export interface Outcome {
  readonly requests: number;
  readonly perSecond: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
  /** Mean size of an answer with its headers. */
  readonly bytes: number;
}

/** Throws Problem if wrk is missing and cannot be installed. */
export function requireWrk(): void {
  const present = (): boolean => spawnSync('wrk', ['-v'], { stdio: 'ignore' }).error === undefined;
  if (present()) return;
  if (process.getuid?.() === 0 && spawnSync('apt-get', ['--version'], { stdio: 'ignore' }).status === 0) {
    say('wrk is missing: installing it with apt-get …');
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
    for (const args of [['update'], ['install', '-y', '--no-install-recommends', 'wrk']]) {
      spawnSync('apt-get', ['-q', ...args], { stdio: ['ignore', 2, 2], env });
    }
    if (present()) return;
  }
  const how = process.platform === 'darwin' ? 'brew install wrk' : 'sudo apt-get install wrk';
  throw new Problem(`wrk, which makes the load, is missing: install it (${how}).`);
}

/** Writes a file for `Load` and returns its path. */
export function writeTargets(file: string, targets: readonly Target[]): string {
  writeFileSync(file, targets.map(({ path, header }) => `${path}\t${header.join('\t')}\n`).join(''), { mode: 0o600 });
  return file;
}

export function runLoad({ file, seed, ...load }: Load): Promise<Outcome> {
  return run(SCRIPT, { ...load, args: [file, String(seed)] });
}

/** See writes.lua for the arguments. */
export function runWrites(load: Work): Promise<Outcome> {
  return run(WRITES, load);
}

/** Throws if any request failed or was rejected, because such a run measures something else. */
async function run(script: string, { port, connections, seconds, args: own }: Work): Promise<Outcome> {
  const args = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '10s', '-s', script, `http://127.0.0.1:${port}`, '--', ...own];
  const child = spawn('wrk', args, { stdio: ['ignore', 'pipe', 'inherit'] });
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
  return {
    requests: result.requests,
    perSecond: (result.requests / result.microseconds) * 1e6,
    p50: result.p50 / 1000,
    p99: result.p99 / 1000,
    bytes: result.bytes / result.requests,
  };
}
