// The system under measurement: every component in its own process, with production settings.
import { randomBytes } from 'node:crypto';
import { addressVariable, owners, type Owner } from '@truckroll/contract';
import { openChannel, type Channel } from '@truckroll/grpc';
import type { Groups } from '../measure/cpu.ts';
import { CALLERS, CALLER_CREDENTIALS, Operator, callCredential } from './operator.ts';
import { postgresPid } from './postgres.ts';
import type { Running, Stack } from './stack.ts';

export interface Services {
  readonly running: Readonly<Record<Owner, Running>>;
  readonly channels: Readonly<Record<Owner, Channel>>;
  /** Works only if integrations runs. */
  readonly operator: Operator;
  stop(name: Owner): Promise<void>;
}

/** Extra settings by service. The key is new for each run: no sealed secret is kept. */
const OWN: Partial<Record<Owner, Record<string, string>>> = { integrations: { WEBHOOK_SECRET_KEYS: `bench:${randomBytes(32).toString('base64')}` } };

export async function startServices(stack: Stack, names: readonly Owner[], env: Record<string, string> = {}): Promise<Services> {
  const running = {} as Record<Owner, Running>;
  const channels = {} as Record<Owner, Channel>;
  for (const name of names) {
    running[name] = await stack.launch({ name, script: `services/${name}/src/main.ts`, env: { CALLER_CREDENTIALS, ...OWN[name], ...env } });
    channels[name] = openChannel(`127.0.0.1:${running[name].port}`, { credentials: CALLERS });
  }
  return {
    running,
    channels,
    operator: new Operator(stack, running.integrations),
    async stop(name) {
      channels[name].close();
      await running[name].stop();
    },
  };
}

/** Starts the gateway in front of the running services. Its cursor key is new, so cursors do not outlive it. */
export function startGateway(stack: Stack, { running }: { running: Partial<Services['running']> }, env: Record<string, string> = {}): Promise<Running> {
  // The gateway is ready once each service has answered a health check; integrations stands in for services that a benchmark does not run.
  const address = (name: Owner): string => `127.0.0.1:${(running[name] ?? running.integrations)?.port}`;
  return stack.launch({
    name: 'gateway',
    script: 'gateway/src/main.ts',
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

/** Starts services with the gateway in front of them. */
export async function startSystem(stack: Stack, names: readonly Owner[], env: Record<string, string> = {}) {
  const services = await startServices(stack, names, env);
  const gateway = await startGateway(stack, services, env);
  return {
    services,
    gateway,
    async stop(): Promise<void> {
      await gateway.stop();
      await Promise.all(names.map((name) => services.stop(name)));
    },
  };
}

/** Starts a webhook dispatcher for the running integrations. */
export function startDispatcher(stack: Stack, { running }: Pick<Services, 'running'>, env: Record<string, string> = {}): Promise<Running> {
  return stack.launch({
    name: 'webhook-dispatcher',
    script: 'services/webhook-dispatcher/src/main.ts',
    env: { CALL_CREDENTIAL: callCredential('webhook-dispatcher'), INTEGRATIONS_ADDRESS: `127.0.0.1:${running.integrations.port}`, ...env },
  });
}

/** Processes by name, and the servers, whose CPU time counts. */
export async function groupsOf(stack: Stack, running: Readonly<Record<string, Pick<Running, 'pid'>>>): Promise<Groups> {
  const servers = { PostgreSQL: await postgresPid(stack), Kafka: stack.pidOf('kafka') ?? 0, Redis: stack.pidOf('redis') ?? 0 };
  const pids = { ...Object.fromEntries(Object.entries(running).map(([name, { pid }]) => [name, pid])), ...servers };
  return Object.fromEntries(Object.entries(pids).map(([name, pid]) => [name, [pid]]));
}
