import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { run } from '@truckroll/cli';
import { callCredential } from './credentials.ts';

/** Unreachable on any machine; requests are still counted. */
const PER_MINUTE = '100000000';
const UNLIMITED = ['--reads-per-minute', PER_MINUTE, '--writes-per-minute', PER_MINUTE, '--reports-per-minute', PER_MINUTE];
const EMAIL = 'load.test@example.com';

export class Operator {
  readonly #env: Record<string, string>;

  readonly #limits: readonly string[];

  /** `limits` are options for new keys; if empty, keys have the usual limits. */
  constructor(integrationsPort: number, limits: readonly string[] = UNLIMITED) {
    this.#limits = limits;
    this.#env = { INTEGRATIONS_ADDRESS: `127.0.0.1:${integrationsPort}`, CALL_CREDENTIAL: callCredential('operator') };
  }

  async createCompany({ id, name, timezone }: Readonly<Record<'id' | 'name' | 'timezone', string>>): Promise<void> {
    const known = await this.#truckroll<{ id: string }[]>('company', 'list');
    if (known.some((company) => company.id === id)) return;
    await this.#truckroll('company', 'create', '--id', id, '--name', name, '--timezone', timezone);
  }

  async createKey(companyId: string): Promise<string> {
    const person = ['--first-name', 'Load', '--last-name', 'Test', '--email', EMAIL];
    const { id } = await this.#truckroll<{ id: string }>('user', 'create', '--company', companyId, ...person);
    const { value } = await this.#truckroll<{ value: string }>('key', 'create', '--company', companyId, '--user', id, '--name', 'Load test', ...this.#limits);
    return value;
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

/** Stores keys by company in a file, because the system shows them only once. */
export class KeyFile {
  readonly #file: string;
  readonly #keys: Record<string, string>;

  constructor(file: string) {
    this.#file = file;
    this.#keys = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>) : {};
  }

  async of(companyId: string, operator: Operator): Promise<string> {
    const known = this.#keys[companyId];
    if (known !== undefined) return known;
    const key = await operator.createKey(companyId);
    this.#keys[companyId] = key;
    mkdirSync(dirname(this.#file), { recursive: true });
    writeFileSync(this.#file, JSON.stringify(this.#keys), { mode: 0o600 });
    return key;
  }

  forget(): void {
    rmSync(this.#file, { force: true });
    for (const id of Object.keys(this.#keys)) delete this.#keys[id];
  }
}
