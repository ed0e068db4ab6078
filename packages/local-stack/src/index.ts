export { Problem } from './problem.ts';
export { startServers, type Addresses, type ServerName, type Servers } from './servers/index.ts';
export { serverEnvironment } from './environment.ts';
