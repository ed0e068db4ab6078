// The whole system with a separate database, and the command line in front of it.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { addressVariable, owners } from '@truckroll/contract';
import { testCaller } from '@truckroll/testing';
import * as whole from '../../../test/support/system.ts';
import { run } from '../src/run.ts';

export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export async function startSystem() {
  const system = await whole.startSystem();
  const folder = mkdtempSync(join(tmpdir(), 'truckroll-cli-'));
  mkdirSync(join(folder, '.truckroll'));
  const addresses = Object.fromEntries(owners.map(addressVariable).map((name) => [name, system.gatewayEnvironment[name] as string]));
  const env: Record<string, string> = { ...addresses, CALL_CREDENTIAL: testCaller('operator').text, TRUCKROLL_URL: system.baseUrl };

  return {
    env,
    folder,
    database: system.database,
    /** A company with generated records, as `truckroll demo` makes one, but with less working time. */
    async demo(seed: number, size: number): Promise<{ company_id: string; api_key: string }> {
      const company = await system.createCompany();
      await system.importDemo(company, seed, size, new Date().toISOString());
      return { company_id: company.id, api_key: company.apiKey };
    },
    truckroll: (...args: string[]) => truckroll(args, env, folder),
    async stop() {
      rmSync(folder, { recursive: true });
      await system.stop();
    },
  };
}

export async function truckroll(
  args: string[],
  env: Record<string, string>,
  cwd: string,
  isTTY = false,
  signal = new AbortController().signal,
): Promise<Outcome> {
  let stdout = '';
  let stderr = '';
  const code = await run(args, {
    env,
    cwd,
    stdout: { write: (text) => (stdout += text) },
    stderr: { write: (text) => (stderr += text), isTTY },
    signal,
  });
  return { code, stdout, stderr };
}
