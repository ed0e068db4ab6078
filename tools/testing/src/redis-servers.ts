import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Daemon, Ports, Watchdog } from '@truckroll/local-stack';

const HOST = '127.0.0.1';

export interface RedisServer {
  readonly port: number;
  readonly url: string;
  readonly daemon: Daemon;
}

export class StartedRedisServers {
  readonly #folder = mkdtempSync(join(tmpdir(), 'truckroll-redis-'));
  readonly #ports = new Ports(join(this.#folder, 'ports.json'));
  readonly #watchdog = new Watchdog();
  #started = 0;

  constructor() {
    this.#watchdog.deleteAtEnd(this.#folder);
  }

  async server(...options: readonly string[]): Promise<RedisServer> {
    const { folder, port } = await this.#place();
    const args = ['--bind', HOST, '--port', String(port), '--dir', folder, '--save', '', ...options];
    return await this.#start(folder, port, args, /Ready to accept connections/);
  }

  async cluster(): Promise<{ masters: RedisServer[]; replica: RedisServer }> {
    const node = async (): Promise<RedisServer> => {
      const bus = await this.#ports.take(`bus ${this.#started}`);
      return await this.server('--cluster-enabled', 'yes', '--cluster-port', String(bus), '--cluster-node-timeout', '2000', '--repl-diskless-sync-delay', '0');
    };
    const nodes = [];
    for (let made = 0; made < 4; made++) nodes.push(await node());
    const [first, second, third, replica] = nodes as [RedisServer, RedisServer, RedisServer, RedisServer];
    const masters = [first, second, third];
    const addressOf = ({ port }: RedisServer): string => `${HOST}:${port}`;
    await redisCli('--cluster', 'create', ...masters.map(addressOf), '--cluster-yes');
    const id = await redisCli('-p', String(second.port), 'CLUSTER', 'MYID');
    await redisCli('--cluster', 'add-node', addressOf(replica), addressOf(first), '--cluster-slave', '--cluster-master-id', id);
    return { masters, replica };
  }

  async sentinel(master: RedisServer): Promise<RedisServer> {
    const { folder, port } = await this.#place();
    const config = join(folder, 'sentinel.conf');
    const lines = [
      `bind ${HOST}`,
      `port ${port}`,
      `dir ${folder}`,
      `sentinel monitor main ${HOST} ${master.port} 1`,
      'sentinel down-after-milliseconds main 500',
      'sentinel failover-timeout main 5000',
    ];
    writeFileSync(config, `${lines.join('\n')}\n`);
    return await this.#start(folder, port, [config, '--sentinel'], /\+monitor master main/);
  }

  async end(): Promise<void> {
    await this.#watchdog.stopAll();
  }

  async #place(): Promise<{ folder: string; port: number }> {
    const name = String(this.#started++);
    const folder = join(this.#folder, name);
    mkdirSync(folder);
    return { folder, port: await this.#ports.take(name) };
  }

  async #start(folder: string, port: number, args: readonly string[], ready: RegExp): Promise<RedisServer> {
    const daemon = new Daemon({
      name: `redis ${port}`,
      command: 'redis-server',
      args,
      log: join(folder, 'log'),
      order: 'server',
      stopSignal: 'SIGTERM',
      graceMs: 5000,
      watchdog: this.#watchdog,
    });
    if (!(await daemon.printed(ready))) throw new Error(`redis-server did not start: ${daemon.output.text()}`);
    return { port, url: `redis://${HOST}:${port}`, daemon };
  }
}

export async function redisCli(...args: readonly string[]): Promise<string> {
  return (await promisify(execFile)('redis-cli', args)).stdout.trim();
}
