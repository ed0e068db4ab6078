// The fuzzer that is not ours: schemathesis, from PyPI, which the first run installs.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { pythonPrograms } from '../support/installed.ts';

/** The program. Throws Problem where it cannot be installed. */
export function requireSchemathesis(): string {
  return join(pythonPrograms('schemathesis==4.32.5'), 'schemathesis');
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
    'run',
    description,
    '--url',
    baseUrl,
    '--header',
    `Authorization: ${authorization}`,
    // No 5xx, no undocumented status, no body or header that misses its description.
    '--checks',
    'not_a_server_error,status_code_conformance,content_type_conformance,response_headers_conformance,response_schema_conformance,negative_data_rejection',
    '--phases',
    'examples,coverage,fuzzing',
    // One worker: beside another thread, Python 3.11 now and then refuses to parse ("AST constructor recursion depth mismatch").
    '--max-time',
    String(seconds),
    '--seed',
    String(seed),
    '--workers',
    '1',
    '--continue-on-failure',
    '--suppress-health-check',
    'all',
    '--no-color',
  ];
  const child = spawn(program, args, { stdio: ['ignore', 'inherit', 'inherit'] });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => resolve(code ?? 1));
  });
}
