import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '@truckroll/cli';
import { acceptanceOf, newCallCredential, type CallCredential } from '@truckroll/grpc';
import type { Running, Stack } from './stack.ts';

/** Credentials of the callers that this process acts as. */
export const CALLERS: readonly CallCredential[] = (['gateway', 'operator', 'webhook-dispatcher'] as const).map(newCallCredential);
export const CALLER_CREDENTIALS = CALLERS.map(acceptanceOf).join();

export function callCredential(caller: CallCredential['caller']): string {
  return CALLERS.find((credential) => credential.caller === caller)?.text ?? '';
}

/** Unreachable on any machine; requests are still counted. */
const PER_MINUTE = '100000000';
const UNLIMITED = ['--reads-per-minute', PER_MINUTE, '--writes-per-minute', PER_MINUTE, '--reports-per-minute', PER_MINUTE];
const EMAIL = 'load.test@example.com';

export class Operator {
  readonly #env: Record<string, string>;
  /** The keys of a benchmark's companies: kept with their data, because the system shows a key only once. */
  readonly #keysFile: string;

  constructor({ folder }: Stack, integrations: Running | undefined) {
    this.#keysFile = join(folder, 'keys.json');
    this.#env = { INTEGRATIONS_ADDRESS: `127.0.0.1:${integrations?.port}`, CALL_CREDENTIAL: callCredential('operator') };
  }

  async createCompany({ id, name, timezone }: Readonly<Record<'id' | 'name' | 'timezone', string>>): Promise<void> {
    const known = await this.#truckroll<{ id: string }[]>('company', 'list');
    if (known.some((company) => company.id === id)) return;
    await this.#truckroll('company', 'create', '--id', id, '--name', name, '--timezone', timezone);
  }

  /** `limits` are options of the command; without any, the key has the usual limits. */
  async createKey(companyId: string, limits: readonly string[] = UNLIMITED): Promise<string> {
    const person = ['--first-name', 'Load', '--last-name', 'Test', '--email', EMAIL];
    const { id } = await this.#truckroll<{ id: string }>('user', 'create', '--company', companyId, ...person);
    const { value } = await this.#truckroll<{ value: string }>('key', 'create', '--company', companyId, '--user', id, '--name', 'Load test', ...limits);
    return value;
  }

  /** The company's key without limits, created the first time. */
  async keyOf(companyId: string): Promise<string> {
    const keys = existsSync(this.#keysFile) ? (JSON.parse(readFileSync(this.#keysFile, 'utf8')) as Record<string, string>) : {};
    const key = keys[companyId] ?? (await this.createKey(companyId));
    writeFileSync(this.#keysFile, JSON.stringify({ ...keys, [companyId]: key }), { mode: 0o600 });
    return key;
  }

  forgetKeys(): void {
    rmSync(this.#keysFile, { force: true });
  }

  /** Token of the user who owns the key, signed by the development issuer, for operations that keys may not perform. */
  async token(companyId: string): Promise<string> {
    return (await this.#truckroll<{ token: string }>('token', '--company', companyId, '--user', EMAIL)).token;
  }

  async #truckroll<T>(...args: string[]): Promise<T> {
    const output = { stdout: '', stderr: '' };
    const code = await run(['--json', ...args], {
      env: this.#env,
      cwd: process.cwd(),
      stdout: { write: (text: string) => (output.stdout += text) },
      stderr: { write: (text: string) => (output.stderr += text) },
      signal: new AbortController().signal,
    });
    if (code !== 0) throw new Error(`truckroll ${args.join(' ')} ended with ${code}: ${output.stderr}`);
    return JSON.parse(output.stdout) as T;
  }
}
