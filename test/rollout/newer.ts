import { addressVariable, owners, type Owner } from '@truckroll/contract';
import { openChannel, type Channel } from '@truckroll/grpc';
import { testCaller, testCallers } from '@truckroll/testing';
import type { System } from '../support/system.ts';
import type { Program, Tree } from './tree.ts';

export interface Newer {
  readonly scheduling: Channel;
  readonly integrations: Channel;
  readonly operator: Readonly<Record<string, string>>;
  readonly gateway: string;
  startDispatcher(): Promise<void>;
  stop(): Promise<void>;
}

/** Calls `beforeReporting` when the other services run, and have announced their release. */
export async function startNewer(system: System, tree: Tree, beforeReporting: () => Promise<void>): Promise<Newer> {
  const programs: Program[] = [];
  async function run(main: string, environment: Readonly<Record<string, string>>): Promise<number> {
    const program = tree.run(main, environment);
    programs.push(program);
    return Number((await program.line(/"port":(\d+),.*serving/))[1]);
  }
  const addresses: Record<string, string> = {};
  const runService = async (name: Owner): Promise<void> => {
    addresses[addressVariable(name)] = `127.0.0.1:${await run(`services/${name}/src/main.ts`, system.serviceEnvironment)}`;
  };
  await Promise.all(owners.filter((name) => name !== 'reporting').map(runService));
  await beforeReporting();
  await runService('reporting');
  const channel = (name: Owner): Channel => openChannel(addresses[addressVariable(name)]!, { credentials: testCallers });
  const [scheduling, integrations] = [channel('scheduling'), channel('integrations')];
  const gateway = await run('gateway/src/main.ts', {
    ...system.gatewayEnvironment,
    LOG_LEVEL: 'info',
    ...addresses,
  });
  return {
    scheduling,
    integrations,
    operator: {
      CALL_CREDENTIAL: testCaller('operator').text,
      ...addresses,
      TRUCKROLL_URL: `http://127.0.0.1:${gateway}`,
    },
    gateway: `http://127.0.0.1:${gateway}`,
    async startDispatcher() {
      await run('services/webhook-dispatcher/src/main.ts', { ...system.dispatcherEnvironment, INTEGRATIONS_ADDRESS: addresses['INTEGRATIONS_ADDRESS']! });
    },
    async stop() {
      for (const each of [scheduling, integrations]) each.close();
      for (const program of programs.toReversed()) await program.stop();
    },
  };
}
