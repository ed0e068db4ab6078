// The whole system as `npm start` runs it, every part a process of its own, with servers that may be killed.
import { join } from 'node:path';
import { createKafka, type KafkaClient } from '../../../packages/outbox/src/index.ts';
import {
  STATE, Watchdog, Ports, choosePort, provision, readSecrets, runFolder, silent, startServers, type Say, type Servers,
} from '@truckroll/local-stack';
import { Database, openChannel, parseCallCredential, silentLog, type CallCredential, type Channel } from '@truckroll/service-kit';
import { plan } from '../../../packages/local-stack/src/start/plan.ts';
import { createIssuer, type Issuer } from '../../support/tokens.ts';
import { Program } from './program.ts';
import { ServerTarget } from './server.ts';
import type { Target } from './target.ts';

export interface InstallationOptions {
  readonly say: Say;
  /** What `npm start` would find in its environment. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Modules that Node loads before a program, by its name. */
  readonly preload?: Readonly<Record<string, string>>;
  /** Processes that are left out. */
  readonly without?: readonly string[];
}

export class Installation {
  readonly baseUrl: string;
  readonly folder: string;
  readonly programs: ReadonlyMap<string, Program>;
  /** Of an administrator; statements name schema and table. */
  readonly database: Database;
  readonly kafka: KafkaClient;
  readonly issuer: Issuer;
  readonly #addresses: Readonly<Record<string, string>>;
  readonly #credentials: readonly CallCredential[];
  readonly #channels = new Map<string, Channel>();
  readonly #servers: Servers;
  readonly #watchdog: Watchdog;

  private constructor(parts: {
    baseUrl: string; folder: string; programs: ReadonlyMap<string, Program>; database: Database; kafka: KafkaClient; issuer: Issuer;
    addresses: Readonly<Record<string, string>>; credentials: readonly CallCredential[]; servers: Servers; watchdog: Watchdog;
  }) {
    ({ baseUrl: this.baseUrl, folder: this.folder, programs: this.programs, database: this.database, kafka: this.kafka, issuer: this.issuer } = parts);
    this.#addresses = parts.addresses;
    this.#credentials = parts.credentials;
    this.#servers = parts.servers;
    this.#watchdog = parts.watchdog;
  }

  /** Nothing that the environment names is used: what is killed here is nobody else's. */
  static async start({ say, environment = {}, preload = {}, without = [] }: InstallationOptions): Promise<Installation> {
    const folder = runFolder('fault-runs');
    const watchdog = new Watchdog();
    watchdog.deleteAtEnd(folder);
    const issuer = createIssuer();
    const programs = new Map<string, Program>();
    try {
      const ports = new Ports(join(folder, 'ports.json'));
      const secrets = readSecrets(folder);
      let telling = true;
      // Not careless: a commit that is acknowledged must survive the death of its server.
      const servers = await startServers({ folder, ports, watchdog, password: secrets.databasePassword, say: (line) => void (telling && say(line)) });
      telling = false;
      const databaseUrls = await provision({ adminUrl: servers.databaseUrl, secret: secrets.databasePassword, database: 'truckroll' });
      const { TOKEN_ISSUER, TOKEN_AUDIENCE, TOKEN_JWKS_FILE } = issuer.environment as Record<string, string>;
      const whole = await plan({
        state: folder, ports, say: silent, databaseUrls,
        redisUrl: servers.redisUrl, kafkaBrokers: servers.kafkaBrokers, secrets,
        tokens: { issuer: TOKEN_ISSUER!, audience: TOKEN_AUDIENCE!, jwksFile: TOKEN_JWKS_FILE! },
        environment: { LOG_LEVEL: 'warn', PORT: String(await choosePort()), ...environment },
      });
      // Shared by all runs: starting again and again is what is done here.
      const inherited = { ...process.env, NODE_OPTIONS: '', NODE_COMPILE_CACHE: join(STATE, 'compile-cache') };
      for (const one of whole.processes) {
        if (without.includes(one.name)) continue;
        programs.set(one.name, new Program({ plan: one, logs: join(folder, 'logs'), watchdog, environment: inherited, preload: preload[one.name] }));
      }
      await Promise.all([...programs.values()].map((program) => program.start()));
      const admin = new URL(servers.databaseUrl);
      admin.pathname = '/truckroll';
      const database = new Database({ url: admin.href, maxConnections: 2, statementTimeoutMs: 60_000 });
      const kafka = createKafka('faults', { kafkaBrokers: servers.kafkaBrokers.split(',') }, silentLog);
      const credentials = Object.values(secrets.callCredentials).map((text) => parseCallCredential(text)!);
      return new Installation({ baseUrl: whole.baseUrl, folder, programs, database, kafka, issuer, addresses: whole.addresses, credentials, servers, watchdog });
    } catch (error) {
      for (const program of programs.values()) program.release();
      await watchdog.stopAll();
      issuer.close();
      throw error;
    }
  }

  /** gRPC of a service. */
  channel(name: string): Channel {
    let channel = this.#channels.get(name);
    if (channel === undefined) this.#channels.set(name, (channel = openChannel(this.#addresses[name] as string, { credentials: this.#credentials })));
    return channel;
  }

  /** What can be killed, by name. */
  targets(names: readonly string[]): Target[] {
    return names.map((name) => this.programs.get(name) ?? new ServerTarget(name as 'postgres' | 'redis' | 'kafka', this.#servers));
  }

  /** Processes that ended although nobody had asked them to. */
  get accidents(): string[] {
    return [...this.programs.values()].flatMap(({ name, ends, log }) => ends.map((end) => `${name} ended by itself (${end}): see ${log}`));
  }

  async close(): Promise<void> {
    for (const program of this.programs.values()) program.release();
    for (const channel of this.#channels.values()) channel.close();
    await this.database.close();
    await this.#watchdog.stopAll();
    this.issuer.close();
  }
}
