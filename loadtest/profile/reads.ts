import { join } from 'node:path';
import { startReading } from '../data/reading.ts';
import type { DataSet } from '../data/companies.ts';
import { collectTargets } from '../data/targets.ts';
import { runLoad, writeTargets } from '../measure/wrk.ts';
import { postgresPid } from '../system/postgres.ts';
import type { Stack } from '../system/stack.ts';
import { profilingInto, see, tell, type Seen } from './told.ts';

const WARM_UP_SECONDS = 5;
const WORKLOADS = { list: 'pages', detail: 'details' } as const;

export async function profileReads(stack: Stack, set: DataSet, folder: string, connections: number, seconds: number): Promise<Record<string, number>> {
  const { services, gateway, callers } = await startReading(stack, set, profilingInto(folder));
  const pids = { gateway: gateway.pid, billing: services.running.billing.pid };
  const groups = { gateway: [pids.gateway], billing: [pids.billing], PostgreSQL: [await postgresPid(stack)], Redis: [stack.pidOf('redis') ?? 0] };
  const targets = await collectTargets(gateway.port, callers);
  const seen: Seen[] = [];
  for (const name of Object.keys(WORKLOADS) as (keyof typeof WORKLOADS)[]) {
    const file = join(stack.folder, `${name}-profile.targets`);
    writeTargets(
      file,
      targets[WORKLOADS[name]].map(({ system }) => system),
    );
    const load = { port: gateway.port, file, connections };
    await runLoad({ ...load, seconds: WARM_UP_SECONDS, seed: 1 });
    seen.push(await see(name, groups, pids, () => runLoad({ ...load, seconds, seed: 2 })));
  }
  // Node writes the profile when the process ends.
  await gateway.stop();
  await services.stop('billing');
  await services.stop('integrations');
  return Object.assign({}, ...seen.map((one) => tell(folder, pids, one))) as Record<string, number>;
}
