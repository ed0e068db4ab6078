import type { Daemon } from '../processes/daemon.ts';
import type { Watchdog } from '../processes/watchdog.ts';
import type { Ports } from '../ports.ts';
import type { Say } from '../say.ts';

/** Reachable from this machine only. */
export const LOOPBACK = '127.0.0.1';
export const LOOPBACKS: ReadonlySet<string> = new Set([LOOPBACK, '::1']);

export type ServerName = 'postgres' | 'redis' | 'kafka';

export interface ServerContext {
  readonly folder: string;
  readonly logs: string;
  readonly ports: Ports;
  readonly watchdog: Watchdog;
  readonly say: Say;
  /** Trades durability for speed, for data that is deleted after a test run. */
  readonly careless: boolean;
  readonly address: string;
}

export interface RunningServer {
  readonly daemon: Daemon;
  readonly port: number;
  readonly url: string;
}
