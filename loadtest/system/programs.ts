// The system as it is measured: every part a process of its own, with the settings of production.
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { ROOT } from '@truckroll/local-stack';
import { acceptanceOf, newCallCredential, openChannel, type CallCredential, type Channel } from '@truckroll/service-kit';
import type { Owner } from '@truckroll/contract';
import type { Running, Stack } from './stack.ts';

export type ServiceName = Extract<Owner, 'billing' | 'scheduling' | 'integrations' | 'reporting'>;

export interface Services {
  readonly running: Readonly<Record<ServiceName, Running>>;
  readonly channels: Readonly<Record<ServiceName, Channel>>;
  stop(name: ServiceName): Promise<void>;
}

/** Whoever calls in a benchmark: this process stands for the operator and the dispatcher, and asks as the gateway does. */
const CALLERS: readonly CallCredential[] = (['gateway', 'operator', 'webhook-dispatcher'] as const).map(newCallCredential);
const CALLER_CREDENTIALS = CALLERS.map(acceptanceOf).join();

/** CALL_CREDENTIAL of a component that calls the services. */
export function callCredential(caller: CallCredential['caller']): string {
  return CALLERS.find((credential) => credential.caller === caller)?.text ?? '';
}

/** What only one service must be told. Nothing sealed outlives a run. */
const OWN: Partial<Record<ServiceName, Record<string, string>>> = { integrations: { WEBHOOK_SECRET_KEYS: `bench:${randomBytes(32).toString('base64')}` } };

export async function startServices(
  stack: Stack,
  names: readonly ServiceName[],
  env: Record<string, string> = {},
  checkout = ROOT,
): Promise<Partial<Services> & Pick<Services, 'running' | 'channels' | 'stop'>> {
  const running = {} as Record<ServiceName, Running>;
  const channels = {} as Record<ServiceName, Channel>;
  for (const name of names) {
    running[name] = await stack.launch({ name, script: join(checkout, `services/${name}/src/main.ts`), env: { CALLER_CREDENTIALS, ...OWN[name], ...env } });
    channels[name] = openChannel(`127.0.0.1:${running[name].port}`, { credentials: CALLERS });
  }
  return {
    running,
    channels,
    async stop(name) {
      channels[name].close();
      await running[name].stop();
    },
  };
}

/** Starts the gateway in front of the services that run. Cursors live as long as it: its key is made anew. */
export function startGateway(
  stack: Stack,
  { running }: { running: Partial<Services['running']> },
  env: Record<string, string> = {},
  checkout = ROOT,
): Promise<Running> {
  // The gateway becomes ready when each service has answered a health check: integrations answers for those that a benchmark does not use.
  const address = (name: ServiceName): string => `127.0.0.1:${(running[name] ?? running.integrations)?.port}`;
  return stack.launch({
    name: 'gateway',
    script: join(checkout, 'gateway/src/main.ts'),
    env: {
      BILLING_ADDRESS: address('billing'),
      INTEGRATIONS_ADDRESS: address('integrations'),
      SCHEDULING_ADDRESS: address('scheduling'),
      REPORTING_ADDRESS: address('reporting'),
      CALL_CREDENTIAL: callCredential('gateway'),
      IDENTITY_KEYS: `bench:${randomBytes(32).toString('base64')}`,
      CURSOR_KEYS: `bench:${randomBytes(32).toString('base64')}`,
      // All clients of a load test have one address.
      MAX_CONNECTIONS_PER_ADDRESS: '10000',
      ...env,
    },
  });
}

export function startBaseline(stack: Stack, style: 'plain' | 'tuned'): Promise<Running> {
  const args = style === 'tuned' ? ['--tuned'] : [];
  return stack.launch({ name: `baseline-${style}`, script: 'loadtest/baseline/main.ts', args, onePort: true });
}
