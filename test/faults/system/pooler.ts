// PgBouncer in transaction mode between the services and PostgreSQL, set up as docs/how-to/managed-servers.md says.
import type { Owner } from '@truckroll/contract';
import { startPgBouncer } from '@truckroll/local-stack';
import { createSession } from '@truckroll/postgres';
import type { ServerContext } from '../../../tools/local-stack/src/servers/server.ts';
import type { ProcessPlan } from '../../../tools/local-stack/src/start/plan.ts';
import { documentedSql } from '../../support/documented-sql.ts';
import type { Target } from './target.ts';

export interface Pooler extends Target {
  through(plan: ProcessPlan): ProcessPlan;
}

/** Smaller than the services' pools, so that transactions share connections. */
const POOL_SIZE = 5;

export async function startPooler(context: ServerContext, adminUrl: string, databaseUrls: Readonly<Record<Owner, string>>): Promise<Pooler> {
  const admin = await createSession({ url: adminUrl });
  try {
    await admin.query({ text: documentedSql('managed-servers', '### Behind a pooler') });
  } finally {
    await admin.close();
  }
  const start = () => startPgBouncer(context, { urls: Object.values(databaseUrls), mode: 'transaction', poolSize: POOL_SIZE });
  let running = await start();
  const { port } = running;
  return {
    name: 'pgbouncer',
    async kill() {
      running.daemon.kill('SIGKILL');
      await running.daemon.exited;
    },
    async start() {
      running = await start();
      if (running.port !== port) throw new Error('PgBouncer lost its port');
    },
    pause: () => running.daemon.kill('SIGSTOP'),
    resume: () => running.daemon.kill('SIGCONT'),
    through(plan) {
      const { DATABASE_URL } = plan.environment;
      if (DATABASE_URL === undefined) return plan;
      const pooled = new URL(DATABASE_URL);
      pooled.port = String(port);
      return { ...plan, environment: { ...plan.environment, DATABASE_URL: pooled.href, DATABASE_SESSION_URL: DATABASE_URL } };
    },
  };
}
