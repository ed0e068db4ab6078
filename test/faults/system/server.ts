import type { ServerName, Servers } from '@truckroll/local-stack';
import { until } from '@truckroll/testing/until';
import { identify, isRunning } from '../../../tools/local-stack/src/processes/identity.ts';
import { HANG } from '../wait.ts';
import { family, signalAll } from './family.ts';
import type { Target } from './target.ts';

export type KillableServers = Pick<Servers, 'running' | 'restart'>;

export class ServerTarget implements Target {
  readonly name: string;
  readonly #server: ServerName;
  readonly #servers: KillableServers;

  /** `name` is for reports, where there are several servers of a kind. */
  constructor(server: ServerName, servers: KillableServers, name: string = server) {
    this.name = name;
    this.#server = server;
    this.#servers = servers;
  }

  async kill(): Promise<void> {
    const { daemon } = this.#servers.running.get(this.#server)!;
    // Stopped first, so that it cannot fork a child that the list would lack.
    signalAll([daemon.pid!], 'SIGSTOP');
    const all = family(daemon.pid!).flatMap((pid) => identify(pid) ?? []);
    signalAll(
      all.map(({ pid }) => pid),
      'SIGKILL',
    );
    await daemon.exited;
    // A server does not start while children of its previous process run.
    await until(`the end of ${this.name}`, () => !all.some(isRunning), Boolean, HANG);
  }

  start(): Promise<void> {
    return this.#servers.restart(this.#server);
  }

  pause(): void {
    signalAll(this.#family(), 'SIGSTOP');
  }

  resume(): void {
    signalAll(this.#family(), 'SIGCONT');
  }

  #family(): number[] {
    return family(this.#servers.running.get(this.#server)!.daemon.pid!);
  }
}
