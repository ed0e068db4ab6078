// An import of one company's payments and invoices, until all derived data can be read.
import { startWorld } from '../imports/world.ts';
import { openClient } from '../system/postgres.ts';
import { groupsOf } from '../system/programs.ts';
import type { StartLoad } from './load.ts';

const JOBS = 1000;
const QUICK_JOBS = 50;

export const imports: StartLoad = async (stack, { quick }) => {
  const client = await openClient(stack);
  const world = await startWorld(stack, client);
  const { billing, reporting } = world.services.running;
  const prepare = async () => {
    const company = await world.company(quick ? QUICK_JOBS : JOBS);
    await client.query('checkpoint');
    return async () => ({ operations: company.records, perSecond: company.records / (await world.store([company])) });
  };
  return {
    groups: await groupsOf(stack, { billing, reporting }),
    async warmUp() {
      await (await prepare())();
    },
    prepare,
  };
};
