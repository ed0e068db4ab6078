import type { ServerName, Servers } from '@truckroll/local-stack';
import { until } from '@truckroll/testing/until';
import { identify, isRunning } from '../../../tools/local-stack/src/processes/identity.ts';
import { HANG } from '../wait.ts';
import { family, signalAll } from './family.ts';
import type { Target } from './target.ts';

export class ServerTarget implements Target {
  readonly name: ServerName;
  readonly #servers: Servers;

  constructor(name: ServerName, servers: Servers) {
    this.name = name;
    this.#servers = servers;
  }

  async kill(): Promise<void> {
    const { daemon } = this.#servers.running.get(this.name)!;
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
    return this.#servers.restart(this.name);
  }

  pause(): void {
    signalAll(this.#family(), 'SIGSTOP');
  }

  resume(): void {
    signalAll(this.#family(), 'SIGCONT');
  }

  #family(): number[] {
    return family(this.#servers.running.get(this.name)!.daemon.pid!);
  }
}
