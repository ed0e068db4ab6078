// The gateway's environment.
import { addressVariable, owners, type Owner } from '@truckroll/contract';
import { callCredentialSetting, cellSetting, checkTls, grpcSettings, otherCellsSetting } from '@truckroll/grpc';
import { ConfigError, baseSettings, env, isUrlOf, readConfig, setting, type Config, type Setting } from '@truckroll/process';
import { redisSetting } from '@truckroll/redis';
import express from 'express';
import { consoleSignIn } from './console-sign-in.ts';
import { trustProxies } from './http/addresses.ts';
import { ADVERTISED_KEEP_ALIVE_MS } from './http/server.ts';

/** `billingAddress` from BILLING_ADDRESS, and so on. */
const addresses = Object.fromEntries(owners.map((owner) => [`${owner}Address`, env.address(addressVariable(owner))])) as Readonly<
  Record<`${Owner}Address`, Setting<string>>
>;

const LONGEST_KEEP_ALIVE_MS = 86_400_000;

/** Longer than the timeout that answers announce, which clients follow. */
function keepAliveSetting(name: string, fallback: number): Setting<number> {
  const duration = env.duration(name, fallback);
  const isAllowed = (ms: number | undefined) => ms !== undefined && ms > ADVERTISED_KEEP_ALIVE_MS && ms <= LONGEST_KEEP_ALIVE_MS;
  const expected = `a duration above ${ADVERTISED_KEEP_ALIVE_MS / 1000}s and up to ${LONGEST_KEEP_ALIVE_MS / 3_600_000}h, such as 65s or 620s`;
  return { ...duration, expected, parse: (text) => [duration.parse(text)].find(isAllowed) };
}

/** A list whose items must all be allowed, and whose message says what they are. */
function listSetting(name: string, items: string, isAllowed: (items: readonly string[]) => boolean): Setting<readonly string[]> {
  const { parse } = env.list(name);
  return setting<readonly string[]>(name, `a comma-separated list of ${items}`, [[]], (text) => [parse(text)].find((found) => found && isAllowed(found)));
}

/** Browsers send an origin in one spelling only, and it is compared as a text. */
function isOrigin(text: string): boolean {
  return isUrlOf(['http', 'https'], text) && new URL(text).origin === text;
}

function isTrustable(given: readonly string[]): boolean {
  try {
    trustProxies(express(), given);
    return true;
  } catch {
    return false;
  }
}

export const settings = {
  ...baseSettings(8080),
  ...grpcSettings,
  /** Credential with which this component proves its name to those it calls: `<caller>.<secret>`. */
  callCredential: callCredentialSetting('CALL_CREDENTIAL', 'gateway'),
  /** Address at which browsers reach the gateway, for links in documents. Without it links are relative. */
  publicUrl: env.optionalUrl('PUBLIC_URL', ['http', 'https']),
  /** Origins whose scripts may call the API from a browser: `https://app.example.com`. */
  corsOrigins: listSetting(
    'CORS_ORIGINS',
    'origins as browsers send them, scheme://host or scheme://host:port without wildcard, path or standard port, such as https://app.example.com',
    (origins) => origins.every(isOrigin),
  ),
  /** Where to report a vulnerability of this installation, for `/.well-known/security.txt`: a `mailto:` or `https:` address. */
  securityContact: env.url('SECURITY_CONTACT', ['mailto', 'https'], 'mailto:security@truckroll.example'),
  /** Redis of the gateways and integrations, for limits, cached identities and revocations: one server, a cluster or Sentinels. */
  redis: redisSetting('REDIS_URL'),
  ...addresses,
  /** Name of this cell, where several cells share their gateways ([Growing](../how-to/growing.md)); the same for integrations and, for the cell of its addresses, the gateway. */
  cell: cellSetting('CELL'),
  /** Addresses of the services of the other cells, `cell/service=host:port`, four for each cell. */
  cells: otherCellsSetting('CELLS'),
  /** Time limit of one call to a service. */
  callDeadlineMs: env.duration('CALL_DEADLINE', 10_000),
  /** Keys of cursors: the first seals them, all open them. The same on every gateway. */
  cursorKeys: env.keyRing('CURSOR_KEYS'),
  /** Keys of identities cached in Redis: the first signs them, all verify them. The same on every gateway. */
  identityKeys: env.keyRing('IDENTITY_KEYS'),
  /** Issuer of accepted user tokens. Without TOKEN_JWKS_URL or TOKEN_JWKS_FILE no user token is accepted. */
  tokenIssuer: env.optional('TOKEN_ISSUER'),
  /** Audience of accepted user tokens: this API. */
  tokenAudience: env.optional('TOKEN_AUDIENCE'),
  /** Address of the issuer's public keys. */
  tokenJwksUrl: env.optionalUrl('TOKEN_JWKS_URL', ['http', 'https']),
  /** File with the issuer's public keys, instead of TOKEN_JWKS_URL. */
  tokenJwksFile: env.optional('TOKEN_JWKS_FILE'),
  /** Longest life of a user token, from `iat` to `exp` (decisions §16). Longer ones are refused. */
  tokenMaxAgeMs: env.duration('TOKEN_MAX_AGE', 86_400_000),
  /** The console's client at the issuer: with it people sign in there, without it they paste a user token (decisions §16). */
  consoleClientId: env.optional('CONSOLE_CLIENT_ID'),
  /** Scopes that the console asks for, separated by spaces. */
  consoleScope: env.string('CONSOLE_SCOPE', 'openid'),
  /** Further parameters of the request to sign in, as a query: `audience=https://api.example.com`. */
  consoleSignInParameters: env.optional('CONSOLE_SIGN_IN_PARAMETERS'),
  /** Name of the issuer on the console's button “Sign in with …”, such as your company's; default: the issuer's host. */
  consoleSignInName: env.optional('CONSOLE_SIGN_IN_NAME'),
  /** File with an API key that the documentation gives everybody who opens it on the same machine, to run samples. `npm start` sets it to the key of its demo company; leave it out elsewhere. */
  docsDemoKeyFile: env.optional('DOCS_DEMO_KEY_FILE'),
  /** Reads of one key in a minute, unless it has its own limit (decisions §3). A company has three times that. */
  readsPerMinute: env.integer('READS_PER_MINUTE', { min: 1 }, 6000),
  /** The same for reports. */
  reportsPerMinute: env.integer('REPORTS_PER_MINUTE', { min: 1 }, 600),
  /** The same for writes. */
  writesPerMinute: env.integer('WRITES_PER_MINUTE', { min: 1 }, 1200),
  /** The same for reads of the change feed. A poll that waits counts once. */
  changesPerMinute: env.integer('CHANGES_PER_MINUTE', { min: 1 }, 600),
  /** Unknown or malformed credentials from one address in a minute. Valid ones from that address are not affected. */
  unknownKeysPerMinute: env.integer('UNKNOWN_KEYS_PER_MINUTE', { min: 1 }, 60),
  /** Pages without a credential that one address may request in a minute. `/healthz` and `/readyz` do not count. */
  pagesPerMinute: env.integer('PUBLIC_PAGES_PER_MINUTE', { min: 1 }, 600),
  /** Open client connections of one gateway. Further ones are closed at once. */
  maxConnections: env.integer('MAX_CONNECTIONS', { min: 1 }, 10_000),
  /** The same for one address that is not in TRUSTED_PROXIES. */
  maxConnectionsPerAddress: env.integer('MAX_CONNECTIONS_PER_ADDRESS', { min: 1 }, 1000),
  /** Idle time after which the gateway closes a client's connection, above 4 s and up to 24 h. It must be longer than your load balancer keeps idle connections ([Install](../how-to/install.md#load-balancers)). */
  keepAliveMs: keepAliveSetting('KEEP_ALIVE_TIMEOUT', 65_000),
  /** Whether reads above 8 KB are compressed for clients that accept it. `false` if a proxy compresses, or clients are in the same data centre. */
  compressData: env.boolean('COMPRESS_DATA', true),
  /** Whether assistants may add and remove technicians by the tool `schedule` of `/mcp` ([Connect an assistant](../how-to/connect-an-assistant.md)). */
  mcpWrites: env.boolean('MCP_WRITES', false),
  /** Proxies whose `X-Forwarded-For` is believed: the number of proxies in front (`1`), or their addresses and networks (`10.0.0.0/8,fd00::/8`). Entries may have ports, brackets and quotes; where one is no address, the peer counts as the client. `Forwarded` is not read. */
  trustedProxies: listSetting('TRUSTED_PROXIES', 'addresses and networks such as 10.0.0.0/8,fd00::/8, or the number of proxies from 0 to 99', isTrustable),
};

export type GatewayConfig = Config<typeof settings>;

export function gatewayConfig(environment: Readonly<Record<string, string | undefined>>): GatewayConfig {
  return readConfig(settings, environment, [checkTls, checkTokens, checkCells, consoleSignIn]);
}

function checkCells({ cell, cells }: Partial<GatewayConfig>): void {
  if (cells !== undefined && cell === undefined) throw new ConfigError('CELL is missing: with CELLS, name the cell of the other addresses too');
  if (cell !== undefined && cells?.has(cell) === true)
    throw new ConfigError(`CELLS has the cell ${cell}, whose addresses are SCHEDULING_ADDRESS and so on: leave it out`);
}

function checkTokens({ tokenIssuer, tokenAudience, tokenJwksUrl, tokenJwksFile }: Partial<GatewayConfig>): void {
  if ((tokenJwksUrl ?? tokenJwksFile) !== undefined && (tokenIssuer === undefined || tokenAudience === undefined)) {
    throw new ConfigError('TOKEN_ISSUER and TOKEN_AUDIENCE are missing: user tokens are checked against both');
  }
}
