import type { Daemon } from '../processes/daemon.ts';
import type { Watchdog } from '../processes/watchdog.ts';
import type { Ports } from '../ports.ts';
import type { Say } from '../say.ts';

/** Where nobody else reaches a server. */
export const LOOPBACK = '127.0.0.1';

export type ServerName = 'postgres' | 'redis' | 'kafka';

export interface ServerContext {
  /** Holds one data folder for each server. */
  readonly folder: string;
  readonly logs: string;
  readonly ports: Ports;
  readonly watchdog: Watchdog;
  readonly say: Say;
  /** Speed before safety, for data that ends with a test run. */
  readonly careless: boolean;
  /** Of this machine: where servers are, 127.0.0.1 unless others than this machine are to reach them. */
  readonly address: string;
}

export interface RunningServer {
  readonly daemon: Daemon;
  readonly port: number;
  /** What clients are given. */
  readonly url: string;
}
