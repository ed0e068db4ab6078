import pg from 'pg';
import { Operator } from '../system/operator.ts';
import { postgresPid } from '../system/postgres.ts';
import { startGateway, startServices } from '../system/programs.ts';
import type { Stack } from '../system/stack.ts';
import { prepareCompany, readVisits, stopPublishing, writeLoad } from '../writes/system.ts';
import { profilingInto, see, tell } from './told.ts';

const WARM_UP_SECONDS = 15;

/** Profiles the two scheduling writes, on the data of bench:writes, with publishing stopped. */
export async function profileWrites(stack: Stack, folder: string, connections: number, seconds: number): Promise<Record<string, number>> {
  const client = new pg.Client({ connectionString: stack.databaseUrl });
  await client.connect();
  try {
    await stopPublishing(client);
    const env = profilingInto(folder);
    const services = await startServices(stack, ['integrations', 'scheduling'], env);
    const key = await prepareCompany(new Operator(services.running.integrations.port), services.channels);
    const gateway = await startGateway(stack, services, env);
    const pids = { gateway: gateway.pid, scheduling: services.running.scheduling.pid };
    const groups = { gateway: [pids.gateway], scheduling: [pids.scheduling], PostgreSQL: [await postgresPid(stack)], Redis: [stack.pidOf('redis') ?? 0] };
    const write = writeLoad(key, connections);
    await write(gateway.port, await readVisits(gateway, key), WARM_UP_SECONDS);
    const visits = await readVisits(gateway, key);
    const seen = await see('write', groups, pids, () => write(gateway.port, visits, seconds));
    await gateway.stop();
    await services.stop('scheduling');
    await services.stop('integrations');
    return tell(folder, pids, seen);
  } finally {
    await client.end();
  }
}
