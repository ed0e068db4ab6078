import { owners, type Owner } from '@truckroll/contract';
import {
  Database,
  MigrationError,
  PoolerError,
  StatementError,
  asOwner,
  isUnavailable,
  migrate,
  missingMigrations,
  type DatabaseSchema,
} from '@truckroll/postgres';
import { retrying } from '@truckroll/process';
import type { Command } from 'commander';
import { durationOption } from '../arguments.ts';
import { EXIT, Failure } from '@truckroll/integrator-cli/terminal/failure';
import type { Session } from '../session.ts';

const HELP = `
Migrates the schemas of ${owners.join(', ')} to this version, each migration in a separate
transaction. Newer schemas stay unchanged, and applied migrations are skipped: it is safe to interrupt, repeat and run twice
at once, while services of this version and of the previous one are serving.

DATABASE_URL names the database and the role, which must be a member of each schema's owner; the owners own the new objects.
Migrations need a session: DATABASE_SESSION_URL is used instead if set. A service with a server of its own is named by a variable
of its own, such as BILLING_DATABASE_URL, with BILLING_DATABASE_SESSION_URL past a pooler.

Examples:
  DATABASE_URL=postgres://truckroll_migrate:…@db/truckroll truckroll migrate
  truckroll migrate --check        # changes nothing; exit code 1 if a migration is not applied`;

/** SQLSTATEs of a role that may not do it: insufficient privilege, and a schema that it may not enter. */
const DENIED = ['42501', '3F000'];

interface Options {
  check?: true;
  /** Seconds. */
  wait: number;
}

export function register(program: Command, session: Session): void {
  program
    .command('migrate')
    .description('Migrate the schemas of all services to this version.')
    .option('--check', 'only list migrations that are not applied')
    .addOption(durationOption('--wait <duration>', 'how long to wait for PostgreSQL', '1m'))
    .addHelpText('after', HELP)
    .action(async ({ check, wait }: Options) => {
      const until = performance.now() + wait * 1000;
      const names: Record<string, string[]> = {};
      let noted: string | undefined;
      const { recordMigration } = await import('@truckroll/integrations/schema');
      const all = await schemas();
      // Before anything is migrated, so that a variable that is missing leaves nothing half done.
      const servers = new Map(all.map(({ schema }) => [schema, session.database(schema as Owner)]));
      const trail = servers.get(TRAIL)!;
      for (const { schema, migrations } of all) {
        const { url, variable } = servers.get(schema)!;
        const work = check ? () => missing(url, { schema, migrations }) : () => migrate({ url, schema, sets: migrations });
        const again = (error: unknown): boolean => {
          if (!isUnavailable(error) || performance.now() >= until) return false;
          const reason = reasonOf(error);
          if (reason !== noted) session.note(`waiting for PostgreSQL: ${reason}`);
          noted = reason;
          return true;
        };
        const insist = <T>(task: () => Promise<T>, named = variable): Promise<T> =>
          retrying(task, again, session.io.signal).catch((error: unknown) => {
            throw explained(error, schema, named);
          });
        const applied = (names[schema] = await insist(work));
        if (!check) await insist(() => asOwner({ url: trail.url, schema: TRAIL }, (owner) => recordMigration(owner, schema, applied)), trail.variable);
      }
      const count = Object.values(names).flat().length;
      if (check && count > 0) session.exitCode = EXIT.refused;
      const lines = Object.entries(names).flatMap(([schema, list]) => list.map((name) => `${schema}: ${name}`));
      const summary = check ? `${count} migrations are not applied` : `${count} migrations were applied`;
      session.print(check ? { missing: names } : { applied: names }, [...lines, summary].join('\n'));
    });
}

const TRAIL = 'integrations';

/** Loaded here, because other commands do not need the services. */
async function schemas(): Promise<DatabaseSchema[]> {
  const load: Record<Owner, () => Promise<{ schema: DatabaseSchema }>> = {
    integrations: () => import('@truckroll/integrations/schema'),
    scheduling: () => import('@truckroll/scheduling/schema'),
    billing: () => import('@truckroll/billing/schema'),
    reporting: () => import('@truckroll/reporting/schema'),
  };
  return Promise.all(owners.map(async (owner) => (await load[owner]()).schema));
}

async function missing(url: string, { schema, migrations }: DatabaseSchema): Promise<string[]> {
  const database = new Database({ url, schema, maxConnections: 1, applicationName: 'truckroll-migrate-check' });
  try {
    return await missingMigrations(database, migrations);
  } finally {
    await database.close();
  }
}

/** What PostgreSQL, its client or the network said, as "The server does not support SSL connections". */
function reasonOf(error: unknown): string {
  const { message, code } = ((error as Error).cause ?? {}) as Partial<NodeJS.ErrnoException>;
  return message || code || 'no answer';
}

function explained(error: unknown, schema: string, variable: string): unknown {
  if (isUnavailable(error)) {
    return new Failure(`PostgreSQL cannot be used (${reasonOf(error)}): correct ${variable}, or wait longer with --wait.`, EXIT.unreachable, error);
  }
  if (error instanceof MigrationError || error instanceof PoolerError) return new Failure(error.message, EXIT.refused, error);
  if (error instanceof StatementError && DENIED.includes(error.sqlState)) {
    const remedy = `give the role of ${variable} what its owner has (grant <owner of ${schema}> to <role>), or create the schema first`;
    return new Failure(`PostgreSQL refuses to migrate ${schema} (${error.message}): ${remedy}.`, EXIT.refused, error);
  }
  return error;
}
