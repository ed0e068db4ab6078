// Writes over HTTP: technicians are added to visits and removed. The cost includes publishing the events.
import { groupsOf, startSystem } from '../system/programs.ts';
import { openClient } from '../system/postgres.ts';
import { nothingUnderWay } from '../writes/baseline.ts';
import { SERVICES, prepareWrites, readVisits, writeLoad } from '../writes/system.ts';
import type { StartLoad } from './load.ts';

const CONNECTIONS = 16;
const WARM_UP = 10_000;

export const writes: StartLoad = async (stack, { quick, seconds }) => {
  const client = await openClient(stack);
  const { services, gateway } = await startSystem(stack, SERVICES);
  const key = await prepareWrites(services);
  const write = writeLoad(stack, key, CONNECTIONS);
  const visits = async () => {
    await nothingUnderWay(client);
    return await readVisits(gateway, key);
  };
  return {
    groups: await groupsOf(stack, { gateway, scheduling: services.running.scheduling, integrations: services.running.integrations }),
    async warmUp() {
      for (let done = 0; done < (quick ? 1 : WARM_UP); ) done += (await write(gateway.port, await visits(), 2)).requests;
    },
    async prepare() {
      const present = await visits();
      return async () => {
        const { requests, perSecond, p50 } = await write(gateway.port, present, seconds);
        return { operations: requests, perSecond, p50 };
      };
    },
  };
};
