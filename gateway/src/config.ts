// The gateway's environment.
import { addressVariable, owners, type Owner } from '@truckroll/contract';
import { callCredentialSetting, grpcSettings } from '@truckroll/grpc';
import { baseSettings, env, readConfig, type Config, type Setting } from '@truckroll/process';
import { redisSetting } from '@truckroll/redis';

/** `billingAddress` from BILLING_ADDRESS, and so on. */
const addresses = Object.fromEntries(owners.map((owner) => [`${owner}Address`, env.string(addressVariable(owner))])) as Readonly<
  Record<`${Owner}Address`, Setting<string>>
>;

export const settings = {
  ...baseSettings(8080),
  ...grpcSettings,
  callCredential: callCredentialSetting('CALL_CREDENTIAL', 'gateway'),
  /** Address at which clients reach the gateway, for links in documents. Without it links are relative. */
  publicUrl: env.optionalUrl('PUBLIC_URL'),
  /** Where to report a vulnerability: a mailto: or https: address, for security.txt. */
  securityContact: env.url('SECURITY_CONTACT', 'mailto:security@truckroll.example'),
  redis: redisSetting('REDIS_URL'),
  ...addresses,
  callDeadlineMs: env.duration('CALL_DEADLINE', 10_000),
  /** The first key seals cursors, all open them. Must be the same on every gateway. */
  cursorKeys: env.keyRing('CURSOR_KEYS'),
  /** The first key signs the identities kept in Redis, all verify them. Must be the same on every gateway. */
  identityKeys: env.keyRing('IDENTITY_KEYS'),
  /** User tokens: their issuer, their audience, and where the issuer's public keys are. Without keys no user token is accepted. */
  tokenIssuer: env.optional('TOKEN_ISSUER'),
  tokenAudience: env.optional('TOKEN_AUDIENCE'),
  tokenJwksUrl: env.optionalUrl('TOKEN_JWKS_URL'),
  tokenJwksFile: env.optional('TOKEN_JWKS_FILE'),
  /** Longest life of a user token, from `iat` to `exp` (decisions §16). */
  tokenMaxAgeMs: env.duration('TOKEN_MAX_AGE', 86_400_000),
  /** Requests per key and minute (decisions §3). */
  readsPerMinute: env.integer('READS_PER_MINUTE', { min: 1 }, 6000),
  reportsPerMinute: env.integer('REPORTS_PER_MINUTE', { min: 1 }, 600),
  writesPerMinute: env.integer('WRITES_PER_MINUTE', { min: 1 }, 1200),
  /** Reads of the change feed per key or user and minute. A poll that waits counts once. */
  changesPerMinute: env.integer('CHANGES_PER_MINUTE', { min: 1 }, 600),
  /** Unknown API keys from one address in a minute. Valid keys of that address, and all other addresses, are not affected. */
  unknownKeysPerMinute: env.integer('UNKNOWN_KEYS_PER_MINUTE', { min: 1 }, 60),
  /** Public pages that one address may request in a minute; /healthz and /readyz do not count. */
  pagesPerMinute: env.integer('PUBLIC_PAGES_PER_MINUTE', { min: 1 }, 600),
  /** Open client connections: in total, and from one address that is not a trusted proxy. */
  maxConnections: env.integer('MAX_CONNECTIONS', { min: 1 }, 10_000),
  maxConnectionsPerAddress: env.integer('MAX_CONNECTIONS_PER_ADDRESS', { min: 1 }, 1000),
  /** Whether large answers to reads are compressed for clients that accept it. */
  compressData: env.boolean('COMPRESS_DATA', true),
  /** Trusted sources of X-Forwarded-For: the number of proxies, or their addresses and networks. */
  trustedProxies: env.list('TRUSTED_PROXIES', []),
};

export type GatewayConfig = Config<typeof settings>;

export function gatewayConfig(environment: Readonly<Record<string, string | undefined>>): GatewayConfig {
  return readConfig(settings, environment);
}
