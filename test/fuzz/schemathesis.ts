import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { pythonPrograms } from '../support/installed.ts';

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

export function fuzz(program: string, { description, baseUrl, authorization, seconds, seed }: FuzzOptions): Promise<number> {
  const args = [
    'run',
    description,
    '--url',
    baseUrl,
    '--header',
    `Authorization: ${authorization}`,
    // No 5xx, no undocumented status, and no body or header that violates its description.
    '--checks',
    'not_a_server_error,status_code_conformance,content_type_conformance,response_headers_conformance,response_schema_conformance,negative_data_rejection',
    '--phases',
    'examples,coverage,fuzzing',
    // One worker: with several threads, Python 3.11 sometimes refuses to parse ("AST constructor recursion depth mismatch").
    '--max-time',
    String(seconds),
    '--seed',
    String(seed),
    '--workers',
    '1',
    // A poll of the change feed waits for up to 30 seconds.
    '--request-timeout',
    '40',
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
