// One connection to Redis that knows whether Redis answers. It never makes a request wait for a server that is away or
// hangs: commands fail at once then, and those under way fail within a second.
import { createClient } from '@redis/client';
import { backoffMs, databaseDurations, type Durations, type Logger, type Metrics } from '@truckroll/service-kit';

/** Between pings while somebody relies on the connection, and once nobody has for `restAfter`: the first who does has one sent at once. */
const TICK_MS = { busy: 250, atRest: 1000, restAfter: 5000 };
/** An unanswered ping of this age means that Redis hangs. */
const HUNG_MS = 750;
const CONNECT_MS = 2000;
const BACKOFF = { firstMs: 100, mostMs: 1000 };

export type RedisClient = ReturnType<typeof newClient>;

function newClient(url: string, name: string) {
  return createClient({
    url,
    name,
    disableOfflineQueue: true,
    // Pings tell of a server that hangs. The library would make a signal and a timer for each command, and keep both for seconds after its answer.
    commandOptions: { timeout: 0 },
    socket: { connectTimeout: CONNECT_MS, reconnectStrategy: false },
  });
}

export interface RedisLinkOptions {
  url: string;
  /** What the server's client list calls it. */
  name: string;
  log: Logger;
  metrics: Metrics;
  /** Runs on every new connection before anything else may use it. */
  prepare?(client: RedisClient): Promise<unknown>;
}

export class RedisLink {
  readonly #options: RedisLinkOptions;
  readonly #commands: Durations;
  #client: RedisClient | undefined;
  #ready = false;
  #stopped = false;
  #failures = 0;
  #timer: NodeJS.Timeout | undefined;
  #pingSentAt: number | undefined;
  #provenAt = -Infinity;
  #tickedAt = 0;
  #waitMs = TICK_MS.busy;
  #reliedAt = -Infinity;
  /** Sends the next ping before its time; undefined unless the connection is at rest. */
  #wake: (() => void) | undefined;

  constructor(options: RedisLinkOptions) {
    this.#options = options;
    this.#commands = databaseDurations(options.metrics);
  }

  /** Starts connecting, and goes on for as long as it takes. */
  start(): void {
    this.#connect();
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
    this.#drop();
  }

  /** Whether commands can be expected to be answered. */
  get ready(): boolean {
    return this.#ready;
  }

  /** When the last answered ping was sent, on the clock of performance.now(). All that Redis had sent by then is here. */
  get provenAt(): number {
    return this.#provenAt;
  }

  /** Somebody relies on it now: pings follow each other closely for a while. */
  rely(): void {
    this.#reliedAt = performance.now();
    this.#wake?.();
  }

  /** Runs commands, which metrics know by a name. Rejects at once where Redis is known to be away. */
  async run<T>(name: string, work: (client: RedisClient) => Promise<T>): Promise<T> {
    this.rely();
    if (!this.#ready || this.#client === undefined) throw new Error('Redis is away');
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
    const { url, name, log, prepare } = this.#options;
    const client = newClient(url, name);
    this.#client = client;
    const fail = (error: unknown): void => {
      if (this.#client !== client || this.#stopped) return;
      this.#failures++;
      if (this.#ready || this.#failures === 1) log.warn({ error, connection: name }, 'Redis does not answer');
      this.#drop();
      this.#timer = setTimeout(() => this.#connect(), backoffMs(this.#failures, BACKOFF));
    };
    client.on('error', fail);
    // connect() waits for ever for a server that accepts and then says nothing.
    this.#timer = setTimeout(() => fail(new Error('Redis accepted the connection and said nothing')), CONNECT_MS);
    const establish = async (): Promise<void> => {
      await client.connect();
      await prepare?.(client);
      if (this.#client !== client || this.#stopped) return;
      clearTimeout(this.#timer);
      if (this.#failures > 0) log.info({ connection: name }, 'Redis answers again');
      this.#failures = 0;
      this.#pingSentAt = undefined;
      this.#ready = true;
      this.#tickedAt = performance.now();
      this.#tick(client, fail);
    };
    establish().catch(fail);
  }

  /** Sends a ping, or gives up on a server that has not answered the last one. */
  #tick(client: RedisClient, fail: (error: unknown) => void): void {
    if (this.#client !== client || this.#stopped) return;
    this.#wake = undefined;
    const now = performance.now();
    // After a pause of our own the answer may be here and unread: look again at the next tick.
    const paused = now - this.#tickedAt > 2 * this.#waitMs;
    this.#tickedAt = now;
    if (this.#pingSentAt === undefined) {
      this.#pingSentAt = now;
      client.ping().then(() => {
        if (this.#client !== client) return;
        this.#provenAt = now;
        this.#pingSentAt = undefined;
      }, fail);
    } else if (now - this.#pingSentAt > HUNG_MS && !paused) {
      return fail(new Error('Redis hangs'));
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

  /** Ends the connection; commands under way reject. */
  #drop(): void {
    const client = this.#client;
    this.#client = undefined;
    this.#ready = false;
    this.#wake = undefined;
    clearTimeout(this.#timer);
    try {
      client?.destroy();
    } catch {
      // It was not open.
    }
  }
}
