export { Problem } from './problem.ts';
export { Ports } from './ports.ts';
export { Watchdog } from './processes/watchdog.ts';
export { startServers, type Addresses, type ServerName, type ServerOptions, type Servers } from './servers/index.ts';
export { serverEnvironment } from './environment.ts';
export { SCHEMAS, provision, type Provisioning, type Schema } from './roles.ts';
export { tokenIssuer, type TokenIssuer } from './token-issuer.ts';
