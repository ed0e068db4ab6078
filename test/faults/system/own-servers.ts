// A separate PostgreSQL for each service except integrations, which uses the server of `startServers`.
import { join } from 'node:path';
import { owners, type Owner } from '@truckroll/contract';
import { Ports, createDatabase } from '@truckroll/local-stack';
import { Database, type Statement } from '@truckroll/postgres';
import { startPostgres } from '../../../tools/local-stack/src/servers/postgres.ts';
import type { RunningServer, ServerContext } from '../../../tools/local-stack/src/servers/server.ts';
import { ServerTarget } from './server.ts';
import type { Target } from './target.ts';

const AT_HOME: Owner = 'integrations';

export interface OwnServers {
  /** URLs of administrators. */
  readonly urls: Partial<Record<Owner, string>>;
  readonly targets: readonly Target[];
}

export const NONE: OwnServers = { urls: {}, targets: [] };

export async function startOwnServers(context: ServerContext & { password: string }): Promise<OwnServers> {
  const urls: Partial<Record<Owner, string>> = {};
  const targets: Target[] = [];
  for (const owner of owners.filter((each) => each !== AT_HOME)) {
    const folder = join(context.folder, owner);
    const start = () => startPostgres({ ...context, folder, ports: new Ports(join(folder, 'ports.json')), logs: join(context.logs, owner) });
    const running = new Map<'postgres', RunningServer>([['postgres', await start()]]);
    const servers = { running, restart: async () => void running.set('postgres', await start()) };
    urls[owner] = await createDatabase(running.get('postgres')!.url, 'truckroll');
    targets.push(new ServerTarget('postgres', servers, `postgres of ${owner}`));
  }
  return { urls, targets };
}

type Result<R> = Awaited<ReturnType<typeof Database.prototype.query<R>>>;

/** Runs each statement where the schema is that it names; statements name one. */
export class RoutedDatabase extends Database {
  readonly #others: ReadonlyMap<string, Database>;

  constructor(options: ConstructorParameters<typeof Database>[0], urls: OwnServers['urls']) {
    super(options);
    this.#others = new Map(Object.entries(urls).map(([owner, url]) => [owner, new Database({ ...options, url })]));
  }

  override query<R = Record<string, unknown>>(statement: Statement): Promise<Result<R>> {
    const [, schema = ''] = /\b(scheduling|billing|reporting|integrations)\./.exec(statement.text) ?? [];
    const other = this.#others.get(schema);
    return other === undefined ? super.query<R>(statement) : other.query<R>(statement);
  }

  override async close(): Promise<void> {
    await Promise.all([...this.#others.values()].map((other) => other.close()));
    await super.close();
  }
}
