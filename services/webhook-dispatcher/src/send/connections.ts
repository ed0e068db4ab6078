import type { Socket } from 'node:net';
import { AttemptError } from '@truckroll/contract/gen/integrations/v1/deliveries';
import type { Target } from '@truckroll/webhook-targets';
import { Client } from 'undici';
import { AnswerHead, MOST_HEAD_BYTES } from './answer-head.ts';
import { Destinations } from './destinations.ts';
import type { Dial } from './dial.ts';
import { ExchangeFailure } from './failure.ts';
import type { ExchangeTime } from './exchange-time.ts';

/** A connection and its client. Used by one exchange at a time. */
export interface ReceiverConnection {
  readonly key: string;
  readonly companyId: string;
  readonly client: Client;
  address: string | undefined;
  /** Number of dials. Unchanged by an exchange that used an open connection. */
  dials: number;
  openedAt: number;
  time: ExchangeTime;
  socket: Socket | undefined;
  /** Bytes received before the current exchange. */
  readBefore: number;
  /** Head of the current answer. */
  head: AnswerHead;
  /** Number of reads of the current answer. */
  reads: number;
  /** CPU time spent reading the current answer, in ms. */
  processorMs: number;
}

export interface ReceiverConnectionOptions {
  readonly dial: Dial;
  /** Maximum connections to one address, across all endpoints. */
  readonly mostPerAddress: number;
}

/** Age in ms at which a connection is replaced, so that its host name is resolved again. */
const MOST_AGE_MS = 60_000;
const MOST_IDLE = 1000;
/** Maximum size of an answer in bytes received, including its head and framing. The log keeps 64 KB of it. */
const MOST_ANSWER_BYTES = 1024 * 1024;
/** Maximum size of an answer that is not charged, in bytes, if it comes in one read. Even in tiny chunks, it takes less than a millisecond. */
const FREE_BYTES = 4096;

/** Keeps connections open between exchanges. Endpoints never share one, even on the same host, so none waits for another. */
export class Connections {
  readonly #dial: Dial;
  readonly #destinations: Destinations;
  /** By endpoint and origin, most recently used last. */
  readonly #idle = new Map<string, ReceiverConnection[]>();
  #count = 0;

  constructor({ dial, mostPerAddress }: ReceiverConnectionOptions) {
    this.#dial = dial;
    this.#destinations = new Destinations(mostPerAddress, (address, companyId) => this.#closeIdle(address, companyId));
  }

  /** An idle connection of this endpoint, or a new one that is opened on first use. */
  take({ endpointId, companyId }: { endpointId: string; companyId: string }, target: Target, time: ExchangeTime): ReceiverConnection {
    const key = `${endpointId} ${target.url.origin}`;
    for (let kept = this.#pop(key); kept !== undefined; kept = this.#pop(key)) {
      if (Date.now() - kept.openedAt < MOST_AGE_MS) {
        return Object.assign(kept, { time, readBefore: kept.socket?.bytesRead ?? 0, head: new AnswerHead(), reads: 0, processorMs: 0 });
      }
      this.discard(kept);
    }
    return this.#create(key, companyId, target, time);
  }

  give(connection: ReceiverConnection): void {
    if (this.#count >= MOST_IDLE || this.#destinations.isCrowded(connection.address ?? '')) return this.discard(connection);
    const kept = this.#idle.get(connection.key);
    if (kept === undefined) this.#idle.set(connection.key, [connection]);
    else kept.push(connection);
    this.#count += 1;
    // Removes connections that the receiver has closed, even if the endpoint gets nothing more.
    connection.client.once('disconnect', () => this.#remove(connection));
  }

  discard(connection: ReceiverConnection): void {
    connection.client.destroy().catch(() => undefined);
  }

  async close(): Promise<void> {
    const all = [...this.#idle.values()].flat();
    this.#idle.clear();
    this.#count = 0;
    await Promise.all(all.map((connection) => connection.client.destroy()));
  }

  #pop(key: string): ReceiverConnection | undefined {
    const kept = this.#idle.get(key);
    const connection = kept?.pop();
    if (kept?.length === 0) this.#idle.delete(key);
    if (connection === undefined) return undefined;
    connection.client.removeAllListeners('disconnect');
    this.#count -= 1;
    return connection;
  }

  #closeIdle(address: string, companyId: string): void {
    const found = [...this.#idle.values()].flat().find((connection) => connection.address === address && connection.companyId === companyId);
    if (found !== undefined) this.#remove(found);
  }

  #remove(connection: ReceiverConnection): void {
    const kept = this.#idle.get(connection.key);
    const index = kept?.indexOf(connection) ?? -1;
    if (kept === undefined || index < 0) return;
    kept.splice(index, 1);
    if (kept.length === 0) this.#idle.delete(connection.key);
    this.#count -= 1;
    this.discard(connection);
  }

  #create(key: string, companyId: string, target: Target, time: ExchangeTime): ReceiverConnection {
    const client = new Client(target.url.origin, {
      connect: (_, callback) => {
        connection.address = undefined;
        connection.dials += 1;
        connection.openedAt = Date.now();
        const dialling = (address: string) => void (connection.address = address);
        this.#dial({ companyId, target, time: connection.time, destinations: this.#destinations, dialling }).then(
          (socket) => {
            watch(connection, socket);
            callback(null, socket);
          },
          (error: Error) => callback(error, null),
        );
      },
      allowH2: false,
      pipelining: 1,
      // Limits only trailers, because a head cannot have as many bytes of names and values.
      maxHeaderSize: MOST_HEAD_BYTES,
      // ExchangeTime limits the whole exchange.
      headersTimeout: 0,
      bodyTimeout: 0,
      // Shorter than the 5 s after which Node, Apache and others close idle connections, so that no exchange runs into that.
      keepAliveTimeout: 3000,
      keepAliveMaxTimeout: 30_000,
    });
    const connection: ReceiverConnection = {
      key,
      companyId,
      client,
      address: undefined,
      dials: 0,
      openedAt: Date.now(),
      time,
      socket: undefined,
      readBefore: 0,
      head: new AnswerHead(),
      reads: 0,
      processorMs: 0,
    };
    return connection;
  }
}

/** Measures the CPU time of reading answers, and ends an exchange whose answer is too long or has an invalid head. */
function watch(connection: ReceiverConnection, socket: Socket): void {
  connection.socket = socket;
  connection.readBefore = 0;
  connection.head = new AnswerHead();
  // undici takes all data by this method.
  const read = socket.read.bind(socket) as (size?: number) => Buffer | null;
  socket.read = (size) => {
    for (;;) {
      const chunk = read(size);
      if (chunk === null) return null;
      try {
        const passed = connection.head.pass(chunk);
        if (passed !== undefined) return passed;
      } catch (error) {
        connection.time.end(error as ExchangeFailure);
        return null;
      }
    }
  };
  // undici's own listener runs after this one and parses the data; the next tick runs after that.
  socket.on('readable', () => {
    const bytes = socket.bytesRead - connection.readBefore;
    connection.reads += 1;
    if (connection.reads === 1 && bytes <= FREE_BYTES) return;
    const since = performance.now();
    process.nextTick(() => (connection.processorMs += performance.now() - since));
    if (bytes <= MOST_ANSWER_BYTES) return;
    connection.time.end(new ExchangeFailure(AttemptError.EXCHANGE, 'The answer was longer than 1 MB.'));
  });
}
