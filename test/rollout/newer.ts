// Components of a later release, run next to the current ones on the same data.
import { openChannel, testCaller, testCallers, type Channel } from '@truckroll/service-kit';
import type { System } from '../support/system.ts';
import type { Program, Tree } from './tree.ts';

export interface Newer {
  readonly scheduling: Channel;
  readonly integrations: Channel;
  /** The environment for a command line that works on them. */
  readonly operator: Readonly<Record<string, string>>;
  readonly gateway: string;
  startDispatcher(): Promise<void>;
  stop(): Promise<void>;
}

export async function startNewer(system: System, tree: Tree): Promise<Newer> {
  const programs: Program[] = [];
  async function run(main: string, environment: Readonly<Record<string, string>>): Promise<number> {
    const program = tree.run(main, environment);
    programs.push(program);
    return Number((await program.line(/"port":(\d+),.*serving/))[1]);
  }
  const ports = await Promise.all(
    ['scheduling', 'integrations', 'billing', 'reporting'].map((name) => run(`services/${name}/src/main.ts`, system.serviceEnvironment)),
  );
  const [scheduling, integrations, billing, reporting] = ports.map((port) => `127.0.0.1:${port}`) as [string, string, string, string];
  const channels = [scheduling, integrations].map((address) => openChannel(address, { credentials: testCallers })) as [Channel, Channel];
  const gateway = await run('gateway/src/main.ts', {
    ...system.gatewayEnvironment,
    LOG_LEVEL: 'info',
    SCHEDULING_ADDRESS: scheduling,
    INTEGRATIONS_ADDRESS: integrations,
    BILLING_ADDRESS: billing,
    REPORTING_ADDRESS: reporting,
  });
  return {
    scheduling: channels[0],
    integrations: channels[1],
    operator: {
      CALL_CREDENTIAL: testCaller('operator').text,
      INTEGRATIONS_ADDRESS: integrations,
      SCHEDULING_ADDRESS: scheduling,
      BILLING_ADDRESS: billing,
      REPORTING_ADDRESS: reporting,
      TRUCKROLL_URL: `http://127.0.0.1:${gateway}`,
    },
    gateway: `http://127.0.0.1:${gateway}`,
    async startDispatcher() {
      await run('services/webhook-dispatcher/src/main.ts', { ...system.dispatcherEnvironment, INTEGRATIONS_ADDRESS: integrations });
    },
    async stop() {
      for (const channel of channels) channel.close();
      for (const program of programs.toReversed()) await program.stop();
    },
  };
}
