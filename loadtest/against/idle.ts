// The whole system without requests: its operations are seconds.
import { setTimeout as delay } from 'node:timers/promises';
import { owners } from '@truckroll/contract';
import { groupsOf, startDispatcher, startSystem } from '../system/programs.ts';
import type { StartLoad } from './load.ts';

/** A hundred seconds after its start, V8 collects the garbage of starting. */
const SETTLE_SECONDS = 120;

export const idle: StartLoad = async (stack, { quick, seconds }) => {
  const { services, gateway } = await startSystem(stack, owners);
  const dispatcher = await startDispatcher(stack, services);
  return {
    groups: await groupsOf(stack, { gateway, ...services.running, dispatcher }),
    warmUp: () => delay((quick ? 1 : SETTLE_SECONDS) * 1000),
    prepare: async () => async () => {
      await delay(seconds * 1000);
      return { operations: seconds };
    },
  };
};
