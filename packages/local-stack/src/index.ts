export { Problem, runMain } from './problem.ts';
export { ROOT, STATE } from './folder.ts';
export { say } from './say.ts';
export { readSecrets } from './secrets.ts';
export { choosePort } from './ports.ts';
export { Watchdog } from './processes/watchdog.ts';
export { Daemon } from './processes/daemon.ts';
export { startServers, type Addresses, type ServerName, type Servers } from './servers/index.ts';
export { serverEnvironment } from './environment.ts';
