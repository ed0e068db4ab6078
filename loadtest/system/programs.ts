// The system under measurement: every component in its own process, with production settings.
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { addressVariable, owners, type Owner } from '@truckroll/contract';
import { acceptanceOf, newCallCredential, openChannel, type CallCredential, type Channel } from '@truckroll/grpc';
import { ROOT } from '@truckroll/local-stack';
import type { Running, Stack } from './stack.ts';

export interface Services {
  readonly running: Readonly<Record<Owner, Running>>;
  readonly channels: Readonly<Record<Owner, Channel>>;
  stop(name: Owner): Promise<void>;
}

/** Credentials of the callers that this process acts as: gateway, operator and dispatcher. */
const CALLERS: readonly CallCredential[] = (['gateway', 'operator', 'webhook-dispatcher'] as const).map(newCallCredential);
const CALLER_CREDENTIALS = CALLERS.map(acceptanceOf).join();

export function callCredential(caller: CallCredential['caller']): string {
  return CALLERS.find((credential) => credential.caller === caller)?.text ?? '';
}

/** Extra settings by service. The key is new for each run: no sealed secret is kept. */
const OWN: Partial<Record<Owner, Record<string, string>>> = { integrations: { WEBHOOK_SECRET_KEYS: `bench:${randomBytes(32).toString('base64')}` } };

export async function startServices(
  stack: Stack,
  names: readonly Owner[],
  env: Record<string, string> = {},
  checkout = ROOT,
): Promise<Partial<Services> & Pick<Services, 'running' | 'channels' | 'stop'>> {
  const running = {} as Record<Owner, Running>;
  const channels = {} as Record<Owner, Channel>;
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

/** Starts the gateway in front of the running services. Its cursor key is new, so cursors do not outlive it. */
export function startGateway(
  stack: Stack,
  { running }: { running: Partial<Services['running']> },
  env: Record<string, string> = {},
  checkout = ROOT,
): Promise<Running> {
  // The gateway is ready once each service has answered a health check; integrations stands in for services that a benchmark does not run.
  const address = (name: Owner): string => `127.0.0.1:${(running[name] ?? running.integrations)?.port}`;
  return stack.launch({
    name: 'gateway',
    script: join(checkout, 'gateway/src/main.ts'),
    env: {
      ...Object.fromEntries(owners.map((owner) => [addressVariable(owner), address(owner)])),
      CALL_CREDENTIAL: callCredential('gateway'),
      IDENTITY_KEYS: `bench:${randomBytes(32).toString('base64')}`,
      CURSOR_KEYS: `bench:${randomBytes(32).toString('base64')}`,
      // All clients of a load test share one address.
      MAX_CONNECTIONS_PER_ADDRESS: '10000',
      ...env,
    },
  });
}

export function startBaseline(stack: Stack, style: 'plain' | 'tuned'): Promise<Running> {
  const args = style === 'tuned' ? ['--tuned'] : [];
  return stack.launch({ name: `baseline-${style}`, script: 'loadtest/baseline/main.ts', args, onePort: true });
}
