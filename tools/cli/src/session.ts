import { addressVariable, databaseVariable, type Owner } from '@truckroll/contract/components';
import {
  cellSetting,
  openChannel,
  optionalCallCredentialSetting,
  otherCellsSetting,
  parseCallCredential,
  tlsSettings,
  type CallCredential,
  type Callers,
  type Channel,
  type Definition,
} from '@truckroll/grpc';
import { parseDatabaseUrl } from '@truckroll/postgres';
import { ConfigError, env, isUrlOf, readConfig, type Config, type Setting, type Settings } from '@truckroll/process';
import { EXIT, Failure } from '@truckroll/integrator-cli/terminal/failure';
import type { Io } from '@truckroll/integrator-cli/terminal/io';
import { TerminalSession } from '@truckroll/integrator-cli/terminal/session';
import { fromService } from './refusal.ts';
import { readState, stateFolder } from './state.ts';

interface Ready {
  baseUrl?: string;
  apiKey?: string;
  databaseUrls?: Partial<Record<Owner, string>>;
  kafkaBrokers?: string;
}

/** The name of a variable in a sentence. */
const VARIABLE = /\b[A-Z]+(_[A-Z]+)+\b/g;

export class Session extends TerminalSession {
  #state: string | undefined;
  json = false;
  /** By address. */
  readonly #channels = new Map<string, Channel>();
  /** A prefix that names of variables have where the operator sets them, and not in `io`: those of another cell than this one. */
  readonly #prefix: string;

  constructor(io: Io, prefix = '') {
    super(io);
    this.#prefix = prefix;
  }

  /** Goes behind the name of a service. */
  get inCell(): string {
    return this.#prefix === '' ? '' : ' of the other cell';
  }

  /** The folder of the local installation. Throws Failure if it cannot be trusted. */
  get state(): string {
    return (this.#state ??= stateFolder(this.io.cwd));
  }

  /** Functions for every rpc of a service. They reject with Failure if the service rejects the call or is unavailable. */
  client<const D extends Definition>(owner: Owner, definition: D): Callers<D> {
    const callers: Record<string, (...input: unknown[]) => unknown> = this.channel(owner).client(definition) as never;
    const guarded = Object.entries(callers).map(([name, call]) => [
      name,
      async (...input: unknown[]) => {
        try {
          return await call(...input);
        } catch (error) {
          throw this.away(owner, error);
        }
      },
    ]);
    return Object.fromEntries(guarded) as Callers<D>;
  }

  channel(owner: Owner): Channel {
    const address = this.address(owner);
    let channel = this.#channels.get(address);
    if (channel === undefined)
      this.#channels.set(address, (channel = openChannel(address, { credentials: [this.#credential(owner)], tls: this.#read(tlsSettings) })));
    return channel;
  }

  async ready(owner: Owner, milliseconds: number): Promise<void> {
    await this.channel(owner)
      .check(milliseconds)
      .catch((error: unknown) => {
        throw this.away(owner, error);
      });
  }

  address(owner: Owner): string {
    const variable = addressVariable(owner);
    const found = this.#setting(env.address(variable, '')) || this.#localAddress(owner);
    if (found) return found;
    throw new Failure(`No address of ${owner} is known: run \`npm start\` here, or set ${this.#prefix}${variable}=host:port.`, EXIT.unreachable);
  }

  /** The credential in the environment, else the local installation's, which only its own services get. Throws Failure if there is none. */
  #credential(owner: Owner): CallCredential {
    const found = this.#setting(optionalCallCredentialSetting('CALL_CREDENTIAL')) ?? this.#localCredential(owner);
    if (found !== undefined) return found;
    const variable = `${this.#prefix}CALL_CREDENTIAL`;
    throw new Failure(
      `No credential is known by which ${owner} would know you: set ${variable} or ${variable}_FILE to the operator's, whose SHA-256 is in the services' CALLER_CREDENTIALS.`,
      EXIT.unreachable,
    );
  }

  #localCredential(owner: Owner): CallCredential | undefined {
    if (this.#localAddress(owner) !== this.address(owner)) return undefined;
    const kept = readState<{ callCredentials?: { operator?: string } }>(this.state, 'secrets.json')?.callCredentials?.operator;
    return parseCallCredential(kept ?? '');
  }

  #localAddress(owner: Owner): string | undefined {
    return readState<Record<string, string>>(this.state, 'services.json')?.[owner];
  }

  /** All cells, by name; that of the environment's addresses comes first. It has no name here if CELL is not set. Close the others. Throws Failure if they contradict each other. */
  cells(): Map<string | undefined, Session> {
    const { cell, others } = this.#read({ cell: cellSetting('CELL'), others: otherCellsSetting('CELLS') });
    if (cell !== undefined && others?.has(cell))
      throw new Failure(`CELLS names ${cell}, which is this cell by CELL: leave it out there. CELLS has the addresses of the others only.`, EXIT.refused);
    const elsewhere = [...(others ?? [])].map(([name, addresses]) => {
      const own = Object.fromEntries(Object.entries(addresses).map(([owner, address]) => [addressVariable(owner as Owner), address]));
      return [name, new Session({ ...this.io, env: { ...this.io.env, ...own } })] as const;
    });
    return new Map<string | undefined, Session>([[cell, this], ...elsewhere]);
  }

  away(owner: Owner, error: unknown): unknown {
    const prefix = this.#prefix;
    const variable = prefix + addressVariable(owner);
    const howTo = prefix === '' ? `start it with \`npm start\`, or set ${variable} to where it runs.` : `start it, or set ${variable} to where it runs.`;
    return fromService(error, { peer: `${owner}${this.inCell} at ${this.address(owner)}`, howTo, credential: `${prefix}CALL_CREDENTIAL` });
  }

  baseUrl(given?: string): string {
    const found = given ?? this.io.env['TRUCKROLL_URL'] ?? readState<Ready>(this.state, 'ready.json')?.baseUrl;
    if (found === undefined) {
      throw new Failure('No address of the API is known: run `npm start` here, or give --url or TRUCKROLL_URL, such as http://127.0.0.1:8080.');
    }
    if (!isUrlOf(['http', 'https'], found)) {
      throw new Failure(`The address of the API must begin with http:// or https://, such as http://127.0.0.1:8080: correct --url or TRUCKROLL_URL.`);
    }
    // Paths of operations begin with /v1 or /api/v1.
    return found.replace(/\/+$/, '').replace(/(\/api)?\/v1$/, '');
  }

  /** The server of the service's schema, past a pooler if there is one, and the variable that names it. */
  database(owner: Owner): { url: string; variable: string } {
    const own = databaseVariable(owner);
    const named = [databaseVariable(owner, 'SESSION_URL'), own, 'DATABASE_SESSION_URL', 'DATABASE_URL'];
    for (const variable of named) {
      const url = this.secret(variable);
      if (url === undefined) continue;
      if (parseDatabaseUrl(url) === undefined)
        throw new Failure(`${this.#prefix}${variable} is no address of a database, such as postgres://user:password@host:5432/truckroll.`);
      return { url, variable: this.#prefix + variable };
    }
    const local = readState<Ready>(this.state, 'ready.json')?.databaseUrls?.[owner];
    if (local !== undefined) return { url: local, variable: '.truckroll/ready.json' };
    throw new Failure(
      `No database of ${owner} is known: set DATABASE_URL, such as postgres://user:password@host:5432/truckroll, or ${own} if ${owner} is on another server.`,
    );
  }

  kafka<S extends Settings>(settings: S): Config<S> {
    const local = readState<Ready>(this.state, 'ready.json')?.kafkaBrokers;
    return this.#read(settings, local === undefined ? this.io.env : { KAFKA_BROKERS: local, ...this.io.env });
  }

  apiKey(given?: string): string {
    if (given !== undefined) this.#seenByAll('--key', 'TRUCKROLL_API_KEY');
    const found = given ?? this.secret('TRUCKROLL_API_KEY') ?? readState<Ready>(this.state, 'ready.json')?.apiKey;
    if (found === undefined || found === '') throw new Failure('Give an API key in TRUCKROLL_API_KEY, or in a file that TRUCKROLL_API_KEY_FILE names.');
    return found;
  }

  webhookSecrets(given: readonly string[]): readonly string[] {
    if (given.length === 0)
      return (
        this.secret('TRUCKROLL_WEBHOOK_SECRET')
          ?.split(',')
          .map((secret) => secret.trim()) ?? []
      );
    this.#seenByAll('--secret', 'TRUCKROLL_WEBHOOK_SECRET');
    return given;
  }

  secret(name: string): string | undefined {
    return this.#setting(env.optionalSecret(name));
  }

  #seenByAll(option: string, variable: string): void {
    this.note(`${option} is deprecated, as every process of this machine can read it: set ${variable}, or ${variable}_FILE to a file's name.`);
  }

  close(): void {
    for (const channel of this.#channels.values()) channel.close();
  }

  /** Throws Failure if the variable's value is invalid. */
  #setting<T>(one: Setting<T>): T {
    return this.#read({ one }).one;
  }

  #read<S extends Settings>(settings: S, environment: Io['env'] = this.io.env): Config<S> {
    try {
      return readConfig(settings, environment);
    } catch (error) {
      if (error instanceof ConfigError) throw new Failure(error.message.replaceAll(VARIABLE, `${this.#prefix}$&`));
      throw error;
    }
  }
}
