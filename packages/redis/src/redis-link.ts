// One connection to Redis that monitors its health. No command waits for a server that is down or hangs: new commands fail at once,
// and those in flight fail within a second.
import { randomUUID } from 'node:crypto';
import { backoffMs } from '@truckroll/process';
import { databaseDurations, type Durations, type Logger, type Metrics } from '@truckroll/telemetry';
import { CONNECT_MS, newClient, type RedisClient } from './client.ts';
import { CLUSTER_PREFIX, findMaster } from './find-master.ts';
import { remedyOf } from './remedy.ts';
import type { RedisNode, RedisServers } from './servers.ts';

/** Probe intervals: while the connection is in use, and after `restAfter` without use. A use at rest sends a probe at once. */
const TICK_MS = { busy: 250, atRest: 1000, restAfter: 5000 };
/** Redis hangs if a probe is unanswered for this long. */
const HUNG_MS = 750;
const BACKOFF = { firstMs: 100, mostMs: 1000 };

export interface RedisLinkOptions {
  servers: RedisServers;
  name: string;
  log: Logger;
  metrics: Metrics;
  /** Keys that probes set if missing: all on a new connection, then one per probe. Replicas, full servers and nodes without the slot reject that. */
  keys: readonly string[];
  prepare?(client: RedisClient): Promise<unknown>;
  /** Called whenever the connection becomes usable. */
  onReady?(): void;
}

export class RedisLink {
  readonly #options: RedisLinkOptions;
  readonly #commands: Durations;
  #client: RedisClient | undefined;
  #clients: RedisClient[] = [];
  #ready = false;
  #stopped = false;
  #failures = 0;
  #remedy: string | undefined;
  #timer: NodeJS.Timeout | undefined;
  #probes = 0;
  #probedAt: number | undefined;
  #provenAt = -Infinity;
  #tickedAt = 0;
  #waitMs = TICK_MS.busy;
  #reliedAt = -Infinity;
  /** Sends the next probe early; undefined unless the connection is at rest. */
  #wake: (() => void) | undefined;

  constructor(options: RedisLinkOptions) {
    this.#options = options;
    this.#commands = databaseDurations(options.metrics);
  }

  start(): void {
    this.#connect();
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
    this.#drop();
  }

  get ready(): boolean {
    return this.#ready;
  }

  /** When the last answered probe was sent, on the clock of performance.now(). Everything Redis sent before then has arrived. */
  get provenAt(): number {
    return this.#provenAt;
  }

  /** Records a use of the connection, which keeps probes frequent for a while. */
  rely(): void {
    this.#reliedAt = performance.now();
    this.#wake?.();
  }

  /** Runs commands and records their duration under `name`. Rejects at once while Redis is known to be down. */
  async run<T>(name: string, work: (client: RedisClient) => Promise<T>): Promise<T> {
    this.rely();
    if (!this.#ready || this.#client === undefined) throw new Error('Redis is unavailable');
    const startedAt = performance.now();
    try {
      const result = await work(this.#client);
      this.#commands.ended(startedAt, 'redis', name, '');
      return result;
    } catch (error) {
      this.#commands.ended(startedAt, 'redis', name, 'unavailable');
      throw error;
    }
  }

  #connect(): void {
    const { name, log, onReady } = this.#options;
    const clients: RedisClient[] = [];
    this.#clients = clients;
    const fail = (error: unknown): void => {
      if (this.#clients !== clients || this.#stopped) return;
      this.#failures++;
      const remedy = remedyOf(error);
      if (this.#ready || this.#failures === 1 || (remedy !== undefined && remedy !== this.#remedy)) {
        log.warn({ error, connection: name }, remedy === undefined ? 'Redis does not answer' : `Redis cannot be used: ${remedy}`);
      }
      this.#remedy = remedy;
      this.#drop();
      this.#timer = setTimeout(() => this.#connect(), backoffMs(this.#failures, BACKOFF));
    };
    // connect() waits forever for a server that accepts the connection and then sends nothing.
    this.#timer = setTimeout(() => fail(new Error('Redis accepted the connection but did not respond')), CONNECT_MS);
    const establish = async (): Promise<void> => {
      const client = await this.#open(clients, fail);
      if (this.#clients !== clients || this.#stopped) return;
      clearTimeout(this.#timer);
      if (this.#failures > 0) log.info({ connection: name }, 'Redis answers again');
      this.#failures = 0;
      this.#remedy = undefined;
      this.#probedAt = undefined;
      this.#client = client;
      this.#ready = true;
      this.#tickedAt = performance.now();
      this.#tick(client, fail);
      onReady?.();
    };
    establish().catch(fail);
  }

  async #open(clients: RedisClient[], fail: (error: unknown) => void): Promise<RedisClient> {
    const { servers, name, keys, prepare } = this.#options;
    const open = async (client: RedisClient, onError: (error: unknown) => void): Promise<RedisClient> => {
      clients.push(client);
      await client.on('error', onError).connect();
      if (this.#clients === clients) return client;
      // The library finishes connecting a client even if it was destroyed while connecting.
      client.destroy();
      throw new Error('This attempt has ended');
    };
    const find = (among: Exclude<RedisServers, { kind: 'single' }>): Promise<RedisNode> =>
      findMaster({
        servers: among,
        attempt: this.#failures,
        // Its commands reject on failure; later errors of this connection do not matter.
        open: (node, login) => open(newClient({ node, login }, name), () => undefined),
        onSwitch: () => fail(new Error('The Sentinels have promoted another server to master')),
      });
    const at = servers.kind === 'single' ? { url: servers.url } : { node: await find(servers), login: servers.login };
    const client = await open(newClient(at, name, servers.kind === 'cluster' ? CLUSTER_PREFIX : undefined), fail);
    await Promise.all(keys.map((key) => probe(client, key)));
    await prepare?.(client);
    return client;
  }

  #tick(client: RedisClient, fail: (error: unknown) => void): void {
    if (this.#client !== client || this.#stopped) return;
    this.#wake = undefined;
    const now = performance.now();
    // After a pause of this process the answer may have arrived unread: check again at the next tick.
    const paused = now - this.#tickedAt > 2 * this.#waitMs;
    this.#tickedAt = now;
    if (this.#probedAt === undefined) {
      this.#probedAt = now;
      const { keys } = this.#options;
      probe(client, keys[this.#probes++ % keys.length]!).then(() => {
        if (this.#client !== client) return;
        this.#provenAt = now;
        this.#probedAt = undefined;
      }, fail);
    } else if (now - this.#probedAt > HUNG_MS && !paused) {
      return fail(new Error('Redis does not respond'));
    }
    const atRest = now - this.#reliedAt > TICK_MS.restAfter;
    this.#waitMs = atRest ? TICK_MS.atRest : TICK_MS.busy;
    const next = (): void => this.#tick(client, fail);
    const timer = setTimeout(next, this.#waitMs);
    this.#timer = timer;
    if (!atRest) return;
    this.#wake = () => {
      clearTimeout(timer);
      next();
    };
  }

  #drop(): void {
    const clients = this.#clients;
    this.#clients = [];
    this.#client = undefined;
    this.#ready = false;
    this.#wake = undefined;
    clearTimeout(this.#timer);
    for (const client of clients) {
      try {
        client.destroy();
      } catch {
        // The client was not open.
      }
    }
  }
}

function probe(client: RedisClient, key: string): Promise<unknown> {
  return client.set(key, randomUUID(), { condition: 'NX' });
}
