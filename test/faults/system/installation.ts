// The whole system as `npm start` runs it, each part in its own process, with servers that may be killed.
import { openChannel, type Channel } from '@truckroll/grpc';
import type { Say } from '@truckroll/local-stack';
import type { Database } from '@truckroll/postgres';
import type { KafkaClient } from '../../../packages/outbox/src/index.ts';
import type { Issuer } from '../../support/tokens.ts';
import { prepare, type Layout, type Prepared, type Running } from './prepared.ts';
import { Program } from './program.ts';
import { ServerTarget } from './server.ts';
import type { Target } from './target.ts';

/** A PostgreSQL of a service, and PgBouncer, are fault targets as well. */
export interface InstallationOptions extends Layout {
  readonly say: Say;
  readonly environment?: Readonly<Record<string, string>>;
  readonly preload?: Readonly<Record<string, string>>;
  readonly without?: readonly string[];
}

export class Installation implements Running {
  readonly baseUrl: string;
  readonly folder: string;
  readonly programs: ReadonlyMap<string, Program>;
  readonly database: Database;
  readonly kafka: KafkaClient;
  readonly issuer: Issuer;
  readonly #channels = new Map<string, Channel>();
  readonly prepared: Prepared;

  private constructor(prepared: Prepared, programs: ReadonlyMap<string, Program>) {
    ({ folder: this.folder, database: this.database, kafka: this.kafka, issuer: this.issuer } = prepared);
    this.baseUrl = prepared.plan.baseUrl;
    this.programs = programs;
    this.prepared = prepared;
  }

  static async start({ say, environment = {}, preload = {}, without = [], ...layout }: InstallationOptions): Promise<Installation> {
    const prepared = await prepare(say, environment, layout);
    const programs = new Map<string, Program>();
    const { logs, watchdog } = prepared;
    for (const one of prepared.plan.processes) {
      if (without.includes(one.name)) continue;
      programs.set(one.name, new Program({ plan: one, logs, watchdog, environment: prepared.environment, preload: preload[one.name] }));
    }
    const installation = new Installation(prepared, programs);
    try {
      await Promise.all([...programs.values()].map((program) => program.start()));
      return installation;
    } catch (error) {
      await installation.close();
      throw error;
    }
  }

  channel(name: string): Channel {
    let channel = this.#channels.get(name);
    const { plan, credentials } = this.prepared;
    if (channel === undefined) this.#channels.set(name, (channel = openChannel(plan.addresses[name] as string, { credentials })));
    return channel;
  }

  targets(names: readonly string[]): Target[] {
    const { pooler, servers, ownServers } = this.prepared;
    const own = (name: string): Target | undefined => (name === pooler?.name ? pooler : this.programs.get(name));
    return names.flatMap((name): Target | readonly Target[] => {
      const target = own(name) ?? new ServerTarget(name as 'postgres' | 'redis' | 'kafka', servers);
      return name === 'postgres' ? [target, ...ownServers.targets] : target;
    });
  }

  get operator(): Prepared['operator'] {
    return this.prepared.operator;
  }

  get accidents(): string[] {
    return [...this.programs.values()].flatMap(({ name, ends, log }) => ends.map((end) => `${name} ended by itself (${end}): see ${log}`));
  }

  async close(): Promise<void> {
    for (const program of this.programs.values()) program.release();
    for (const channel of this.#channels.values()) channel.close();
    await this.prepared.close();
  }
}
