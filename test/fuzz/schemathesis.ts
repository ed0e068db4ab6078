// The fuzzer that is not ours: schemathesis, from PyPI, in an environment of its own that the first run makes.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { Problem, say } from '@truckroll/local-stack';

const VERSION = '4.32.5';

/** The program, installed if it is not yet. Throws Problem where Python is missing. */
export function requireSchemathesis(): string {
  const cache = process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache');
  const folder = join(cache, 'truckroll', `schemathesis-${VERSION}`);
  const program = join(folder, 'bin', 'schemathesis');
  if (existsSync(program)) return program;
  say(`installing schemathesis ${VERSION} …`);
  mkdirSync(dirname(folder), { recursive: true });
  rmSync(folder, { recursive: true, force: true });
  // A virtual environment cannot be moved, so one that was interrupted is told by the program that it lacks.
  run('python3', ['-m', 'venv', folder], 'Python 3 with its venv module is missing: install python3 and python3-venv.');
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', `schemathesis==${VERSION}`];
  run(join(folder, 'bin', 'python'), pip, 'schemathesis could not be installed: check the network and try again.');
  return program;
}

function run(command: string, args: readonly string[], otherwise: string): void {
  const { status } = spawnSync(command, args, { stdio: ['ignore', 2, 2] });
  if (status !== 0) throw new Problem(otherwise);
}

export interface FuzzOptions {
  description: string;
  baseUrl: string;
  authorization: string;
  seconds: number;
  seed: number;
}

/** Runs it over every operation; resolves to its exit code. */
export function fuzz(program: string, { description, baseUrl, authorization, seconds, seed }: FuzzOptions): Promise<number> {
  const args = [
    'run', description, '--url', baseUrl,
    '--header', `Authorization: ${authorization}`,
    // No 5xx, no undocumented status, no body or header that misses its description.
    '--checks', 'not_a_server_error,status_code_conformance,content_type_conformance,response_headers_conformance,response_schema_conformance,negative_data_rejection',
    '--phases', 'examples,coverage,fuzzing',
    // One worker: beside another thread, Python 3.11 now and then refuses to parse ("AST constructor recursion depth mismatch").
    '--max-time', String(seconds), '--seed', String(seed), '--workers', '1', '--continue-on-failure',
    '--suppress-health-check', 'all', '--no-color',
  ];
  const child = spawn(program, args, { stdio: ['ignore', 'inherit', 'inherit'] });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => resolve(code ?? 1));
  });
}
