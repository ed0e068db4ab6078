// The settings of the gateway, their names and their defaults.
import { parseRedisUrl } from '@truckroll/redis';
import { gatewayConfig } from '../src/config.ts';
import { SECRETS } from './support/gateway.ts';

const REQUIRED = {
  REDIS_URL: 'redis://redis:6379',
  BILLING_ADDRESS: 'billing:50051',
  SCHEDULING_ADDRESS: 'scheduling:50052',
  REPORTING_ADDRESS: 'reporting:50053',
  INTEGRATIONS_ADDRESS: 'integrations:50054',
  ...SECRETS,
};

test('has the addresses of the services, and defaults for what else it needs', () => {
  expect(gatewayConfig(REQUIRED)).toMatchObject({
    port: 8080,
    redis: parseRedisUrl(REQUIRED.REDIS_URL),
    billingAddress: 'billing:50051',
    schedulingAddress: 'scheduling:50052',
    reportingAddress: 'reporting:50053',
    integrationsAddress: 'integrations:50054',
    callCredential: { caller: 'gateway', text: SECRETS.CALL_CREDENTIAL },
    callDeadlineMs: 10_000,
    publicUrl: undefined,
    corsOrigins: [],
    securityContact: 'mailto:security@truckroll.example',
    tokenIssuer: undefined,
    tokenAudience: undefined,
    tokenJwksUrl: undefined,
    tokenJwksFile: undefined,
    tokenMaxAgeMs: 86_400_000,
    consoleClientId: undefined,
    consoleScope: 'openid',
    consoleSignInParameters: undefined,
    readsPerMinute: 6000,
    reportsPerMinute: 600,
    writesPerMinute: 1200,
    changesPerMinute: 600,
    unknownKeysPerMinute: 60,
    pagesPerMinute: 600,
    maxConnections: 10_000,
    maxConnectionsPerAddress: 1000,
    compressData: true,
    trustedProxies: [],
  });
});

test('takes every other setting from the variable of its name', () => {
  const environment = {
    CALL_DEADLINE: '7s',
    PUBLIC_URL: 'https://api.example.com',
    CORS_ORIGINS: 'https://app.example.com, http://localhost:5173',
    SECURITY_CONTACT: 'https://example.com/security',
    TOKEN_ISSUER: 'https://id.example.com',
    TOKEN_AUDIENCE: 'truckroll',
    TOKEN_JWKS_URL: 'https://id.example.com/jwks',
    TOKEN_JWKS_FILE: '/etc/jwks.json',
    TOKEN_MAX_AGE: '12h',
    CONSOLE_CLIENT_ID: 'console',
    CONSOLE_SCOPE: 'openid profile',
    CONSOLE_SIGN_IN_PARAMETERS: 'audience=truckroll',
    READS_PER_MINUTE: '11',
    REPORTS_PER_MINUTE: '12',
    WRITES_PER_MINUTE: '13',
    CHANGES_PER_MINUTE: '14',
    UNKNOWN_KEYS_PER_MINUTE: '15',
    PUBLIC_PAGES_PER_MINUTE: '16',
    MAX_CONNECTIONS: '17',
    MAX_CONNECTIONS_PER_ADDRESS: '18',
    COMPRESS_DATA: 'false',
    TRUSTED_PROXIES: '10.0.0.0/8,fd00::/8',
  };
  expect(gatewayConfig({ ...REQUIRED, ...environment })).toMatchObject({
    callDeadlineMs: 7000,
    publicUrl: 'https://api.example.com',
    securityContact: 'https://example.com/security',
    tokenIssuer: 'https://id.example.com',
    tokenAudience: 'truckroll',
    tokenJwksUrl: 'https://id.example.com/jwks',
    tokenJwksFile: '/etc/jwks.json',
    tokenMaxAgeMs: 43_200_000,
    consoleClientId: 'console',
    consoleScope: 'openid profile',
    consoleSignInParameters: 'audience=truckroll',
    readsPerMinute: 11,
    reportsPerMinute: 12,
    writesPerMinute: 13,
    changesPerMinute: 14,
    unknownKeysPerMinute: 15,
    pagesPerMinute: 16,
    maxConnections: 17,
    maxConnectionsPerAddress: 18,
    compressData: false,
    trustedProxies: ['10.0.0.0/8', 'fd00::/8'],
  });
});

test.each([
  'READS_PER_MINUTE',
  'REPORTS_PER_MINUTE',
  'WRITES_PER_MINUTE',
  'CHANGES_PER_MINUTE',
  'UNKNOWN_KEYS_PER_MINUTE',
  'PUBLIC_PAGES_PER_MINUTE',
  'MAX_CONNECTIONS',
  'MAX_CONNECTIONS_PER_ADDRESS',
])('refuses a %s of zero, which would reject everything', (name) => {
  expect(() => gatewayConfig({ ...REQUIRED, [name]: '0' })).toThrow(new RegExp(`^${name} is invalid`));
});

test('refuses the credential of another component', () => {
  expect(() => gatewayConfig({ ...REQUIRED, CALL_CREDENTIAL: SECRETS.CALL_CREDENTIAL.replace('gateway.', 'billing.') })).toThrow(/^CALL_CREDENTIAL is invalid/);
});

test.each([
  ...['*', 'null', 'app.example.com', 'https://*.example.com', 'https://app.example.com/', 'https://app.example.com/path', 'https://app.example.com?a=1'],
  ...['https://APP.example.com', 'https://app.example.com:443', 'https://app.example.com:0', 'https://user@app.example.com', 'https://app .example.com'],
  ...['https://a..example', 'ftp://app.example.com', 'https://'],
])('refuses the origin %s, with the right form', (origin) => {
  expect(() => gatewayConfig({ ...REQUIRED, CORS_ORIGINS: `https://a.example,${origin}` })).toThrow(
    /^CORS_ORIGINS is invalid: it must be a comma-separated list of origins as browsers send them, scheme:\/\/host or/,
  );
});

test.each(['10.0.0.0/99', '100', '1,10.0.0.1', 'proxy.example.com', '10.0.0.1:80', '-1'])('refuses TRUSTED_PROXIES=%s, with the right form', (text) => {
  expect(() => gatewayConfig({ ...REQUIRED, TRUSTED_PROXIES: text })).toThrow(
    `TRUSTED_PROXIES is invalid: it must be a comma-separated list of addresses and networks such as 10.0.0.0/8,fd00::/8, or the number of proxies from 0 to 99, not "${text}"`,
  );
});

test.each(['4s', '4000ms', '0s', '86401s', '25h'])('refuses KEEP_ALIVE_TIMEOUT=%s', (text) => {
  expect(() => gatewayConfig({ ...REQUIRED, KEEP_ALIVE_TIMEOUT: text })).toThrow('KEEP_ALIVE_TIMEOUT is invalid: it must be a duration above 4s and up to 24h');
});

test.each([
  ['4001ms', 4001],
  ['24h', 86_400_000],
])('takes KEEP_ALIVE_TIMEOUT=%s', (text, keepAliveMs) => {
  expect(gatewayConfig({ ...REQUIRED, KEEP_ALIVE_TIMEOUT: text })).toMatchObject({ keepAliveMs });
});

test('with other cells, its own has a name, and its addresses once', () => {
  const CELLS = ['scheduling', 'billing', 'reporting', 'integrations'].map((service) => `west/${service}=west-${service}:1`).join();
  expect([...(gatewayConfig({ ...REQUIRED, CELL: 'home', CELLS }).cells ?? []).keys()]).toEqual(['west']);
  expect(() => gatewayConfig({ ...REQUIRED, CELLS })).toThrow('CELL is missing');
  expect(() => gatewayConfig({ ...REQUIRED, CELL: 'west', CELLS })).toThrow('CELLS has the cell west');
});
