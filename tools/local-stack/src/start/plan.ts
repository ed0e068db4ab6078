import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { addressVariable, owners, type Owner } from '@truckroll/contract/components';
import { formatAddress, parseAddress } from '@truckroll/process/addresses';
import { ROOT } from '../folder.ts';
import { CONSOLE_CLIENT_ID } from '../issuer/client.ts';
import { DEMO_KEY_FILE } from '../demo-companies.ts';
import { Problem } from '../problem.ts';
import { isFree, type Ports } from '../ports.ts';
import { IPV4, isLoopback, type Listening } from './listening.ts';
import type { StopOrder } from '../processes/stop-in-order.ts';
import type { Say } from '../say.ts';
import { acceptedCallers, type CallerName, type Secrets } from '../secrets.ts';

export interface ProcessPlan {
  readonly name: string;
  readonly script: string;
  readonly order: StopOrder;
  readonly readyUrl: string;
  readonly metricsUrl: string;
  /** Every setting that the process needs, except the machine's own environment. */
  readonly environment: Readonly<Record<string, string>>;
}

export interface StartPlan {
  readonly baseUrl: string;
  /** host:port of each service's gRPC, by service name. */
  readonly addresses: Readonly<Record<string, string>>;
  readonly processes: readonly ProcessPlan[];
  /** Whether people sign in to the console at the local issuer. */
  readonly signsIn: boolean;
}

export interface PlanOptions {
  readonly state: string;
  /** Default: 127.0.0.1. */
  readonly listening?: Listening;
  readonly ports: Ports;
  readonly say: Say;
  readonly databaseUrls: Readonly<Record<Owner, string>>;
  readonly redisUrl: string;
  readonly kafkaBrokers: string;
  readonly secrets: Secrets;
  readonly tokens: { readonly issuer: string; readonly audience: string; readonly jwksFile: string };
  /** Whether the issuer of `tokens` has a sign-in page, at the address that is its name. */
  readonly signsIn?: boolean;
  /** Bundle by component, to run instead of its modules. */
  readonly bundles?: ReadonlyMap<string, string>;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

const PREFERRED_PORT = 8080;
/** Where `truckroll listen` receives webhooks: the only private target that is allowed (decisions §7). */
const LISTEN_TARGET = '127.0.0.1:4567';
/** The dispatcher connects to arbitrary addresses, so it gets none of the gateway's keys and tokens, and no server except Kafka. */
const DISPATCHER = 'webhook-dispatcher';

/** Chooses the ports and puts every process's settings together. Skips processes that this checkout lacks. */
export async function plan(options: PlanOptions): Promise<StartPlan> {
  const { state, listening = IPV4, ports, databaseUrls, redisUrl, kafkaBrokers, secrets, tokens, signsIn = false, bundles, environment } = options;
  const addresses: Record<string, string> = {};
  for (const name of owners) addresses[name] = formatAddress(listening.loopback, await ports.take(name));
  const peers = Object.fromEntries(owners.map((name) => [addressVariable(name), addresses[name]!]));
  const common = { LOG_LEVEL: environment['LOG_LEVEL'] || 'info', NODE_ENV: 'production' };

  const processes: ProcessPlan[] = [];
  const add = async (name: string, folder: string, order: StopOrder, settings: Record<string, string>, publicUrl?: string) => {
    const program = `${folder}/src/main.ts`;
    const METRICS_PORT = String(await ports.take(`${name}-metrics`));
    const [HOST, reachedAt] = publicUrl === undefined ? [listening.loopback, listening.loopback] : [listening.host, listening.reachedAt];
    const metricsUrl = `http://${formatAddress(reachedAt, METRICS_PORT)}`;
    if (!existsSync(join(ROOT, program))) return;
    processes.push({
      name,
      // When bundling failed, run the modules: their own error says what is wrong.
      script: bundles?.get(name) ?? join(ROOT, program),
      order,
      metricsUrl,
      readyUrl: `${publicUrl ?? metricsUrl}/readyz`,
      environment: { ...common, HOST, METRICS_PORT, ...settings },
    });
  };
  const targets = { WEBHOOK_ALLOWED_TARGETS: environment['WEBHOOK_ALLOWED_TARGETS'] || LISTEN_TARGET };
  // Messages to a demo company's people must not be delivered, unless the user configures providers.
  const messages = { NOTIFICATION_FOLDER: environment['NOTIFICATION_FOLDER'] || join(state, 'outgoing') };
  const own: Partial<Record<Owner, Record<string, string>>> = {
    integrations: { WEBHOOK_SECRET_KEYS: secrets.webhookSecretKeys, ...targets, ...messages },
    scheduling: messages,
  };
  const CALLER_CREDENTIALS = acceptedCallers(secrets);
  const credential = (name: CallerName) => ({ CALL_CREDENTIAL: secrets.callCredentials[name] });
  for (const name of owners) {
    const settings = {
      PORT: String(parseAddress(addresses[name]!)?.port),
      CALLER_CREDENTIALS,
      ...credential(name),
      DATABASE_URL: databaseUrls[name],
      REDIS_URL: redisUrl,
      KAFKA_BROKERS: kafkaBrokers,
      ...peers,
      ...own[name],
    };
    await add(name, `services/${name}`, 'service', settings);
  }
  await add(DISPATCHER, `services/${DISPATCHER}`, 'service', {
    PORT: String(await ports.take(DISPATCHER)),
    KAFKA_BROKERS: kafkaBrokers,
    INTEGRATIONS_ADDRESS: addresses['integrations']!,
    ...credential(DISPATCHER),
    ...targets,
  });
  const port = await gatewayPort(options);
  const baseUrl = `http://${formatAddress(listening.reachedAt, port)}`;
  const issuer = { TOKEN_ISSUER: tokens.issuer, TOKEN_AUDIENCE: tokens.audience, TOKEN_JWKS_FILE: tokens.jwksFile };
  await add(
    'gateway',
    'gateway',
    'gateway',
    {
      PORT: String(port),
      REDIS_URL: redisUrl,
      CURSOR_KEYS: secrets.cursorKeys,
      IDENTITY_KEYS: secrets.identityKeys,
      ...credential('gateway'),
      ...peers,
      ...(hasOwnIssuer(environment) ? {} : issuer),
      // Shows the demo company's key to every reader, so only where this machine alone reaches the gateway.
      ...(isLoopback(listening.host) ? { DOCS_DEMO_KEY_FILE: join(state, DEMO_KEY_FILE), PUBLIC_URL: environment['PUBLIC_URL'] || baseUrl } : {}),
      ...(signsIn ? { CONSOLE_CLIENT_ID, CONSOLE_SIGN_IN_NAME: 'npm start' } : {}),
    },
    baseUrl,
  );
  return { baseUrl, addresses, processes, signsIn };
}

/** Whether the gateway accepts the tokens of the user's own issuer instead of the local one's. */
export function hasOwnIssuer(environment: PlanOptions['environment']): boolean {
  return Boolean(environment['TOKEN_JWKS_URL'] || environment['TOKEN_JWKS_FILE']);
}

/** PORT if set, else the last start's port, else 8080, else any free port. The port is kept because integrators write it down. */
async function gatewayPort({ ports, environment, say }: PlanOptions): Promise<number> {
  const given = environment['PORT'];
  if (given) {
    const port = Number(given);
    if (!Number.isInteger(port) || port < 1 || port > 65_535) throw new Problem(`PORT is ${given}: set it to a port number from 1 to 65535.`);
    if (await isFree(port)) return port;
    throw new Problem(`Port ${port} is in use: stop what uses it, or choose another one with PORT=${port + 1} npm start.`);
  }
  const usual = ports.remembered('gateway') ?? PREFERRED_PORT;
  const port = await ports.take('gateway', PREFERRED_PORT);
  if (port !== usual) say(`Port ${usual} is in use, so the API is at port ${port}: set PORT to choose another one.`);
  return port;
}
