import kafkajs from 'kafkajs';
import Connection from 'kafkajs/src/network/connection.js';
import ConsumerGroup from 'kafkajs/src/consumer/consumerGroup.js';
import Runner from 'kafkajs/src/consumer/runner.js';
import Encoder from 'kafkajs/src/protocol/encoder.js';
import RequestQueue from 'kafkajs/src/network/requestQueue/index.js';
import produces from 'kafkajs/src/protocol/requests/produce/index.js';
import { writeProduced } from './kafkajs-produce.ts';

let repaired = false;

/**
 * Mends what kafkajs 2.2.4, its last release, gets wrong and its interface gives no way around. Once per process.
 *
 * - An idle connection sets a timer of 1 ms for ever: about 3 % of a core for each client.
 * - Every connection looks ten times a second whether a request is late, which no request is for twenty seconds: that is most
 *   of what a process does while nothing happens.
 * - A request that is made while a connection is being closed is written to nobody, and its time limit is switched off
 *   with the connection: who waits for it waits for ever.
 * - Callers that need a lost connection at once open one each, which all feed the same parser.
 * - Of an answer to a fetch, every partition is handed on as a batch of its own, those without messages too: forty-nine of
 *   fifty are nothing but work.
 * - A consumer that stops waits until the broker answers its fetch, which may be long where nothing comes.
 * - A request is copied twice, each time into the next power of two of bytes, all of which were set to nothing before.
 * - Every record and every header of one is written into a buffer of its own, which is copied seven times on its way: four fifths of
 *   the time of encoding an event.
 */
export function repairKafkajs(): void {
  if (repaired) return;
  repaired = true;

  const schedule = RequestQueue.prototype.scheduleCheckPendingRequests;
  RequestQueue.prototype.scheduleCheckPendingRequests = function (this: RequestQueue) {
    if (this.pending.length > 0) schedule.call(this);
  };

  RequestQueue.prototype.scheduleRequestTimeoutCheck = function (this: RequestQueue) {
    if (!this.enforceRequestTimeout) return;
    this.destroy();
    lookAfter(this, this.requestTimeout);
  };

  const rejectAll = RequestQueue.prototype.rejectAll;
  RequestQueue.prototype.rejectAll = function (this: RequestQueue, error: Error) {
    rejectAll.call(this, error);
    // The connection has ended: what is sent over it before that is known everywhere is rejected as well.
    if (this.enforceRequestTimeout) lookAfter(this, ENDED_MS);
  };

  const destroy = RequestQueue.prototype.destroy;
  RequestQueue.prototype.destroy = function (this: RequestQueue) {
    destroy.call(this);
    if (this.inflight.size + this.pending.length > 0) this.rejectAll(new kafkajs.KafkaJSConnectionError('The connection was closed'));
  };

  const connect = Connection.prototype.connect;
  const connecting = new WeakMap<Connection, Promise<unknown>>();
  Connection.prototype.connect = function (this: Connection) {
    let attempt = connecting.get(this);
    if (attempt === undefined) {
      const settled = () => connecting.delete(this);
      attempt = connect.call(this);
      connecting.set(this, attempt);
      attempt.then(settled, settled);
    }
    return attempt;
  };

  /** Of fetches that are waited for, how not to. */
  const waits = new WeakMap<ConsumerGroup, Set<() => void>>();
  const fetch = ConsumerGroup.prototype.fetch;
  ConsumerGroup.prototype.fetch = async function (this: ConsumerGroup, nodeId: number) {
    const ends = waits.get(this) ?? new Set();
    waits.set(this, ends);
    const { promise, resolve, reject } = Promise.withResolvers<Awaited<ReturnType<ConsumerGroup['fetch']>>>();
    const end = () => resolve([]);
    ends.add(end);
    fetch
      .call(this, nodeId)
      .then(resolve, reject)
      .finally(() => ends.delete(end));
    return (await promise).filter(({ rawMessages }) => rawMessages.length > 0);
  };
  const stop = Runner.prototype.stop;
  Runner.prototype.stop = function (this: Runner) {
    const stopped = stop.call(this);
    for (const end of waits.get(this.consumerGroup) ?? []) end();
    return stopped;
  };

  Encoder.prototype.ensureAvailable = function (this: Encoder, length: number) {
    const needed = this.offset + length;
    if (needed <= this.buf.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(2 * this.buf.length, needed));
    this.buf.copy(grown, 0, 0, this.offset);
    this.buf = grown;
  };

  const produce = produces.protocol;
  produces.protocol = (which) => writeProduced(which, produce(which));
}

/** After a connection has ended, what kafkajs itself takes to find requests that are still made. */
const ENDED_MS = 100;

function lookAfter(queue: RequestQueue, ms: number): void {
  clearTimeout(queue.requestTimeoutIntervalId);
  queue.requestTimeoutIntervalId = setTimeout(() => look(queue), ms).unref();
}

/** Rejects requests that are late, and looks again when the next one would be: what is sent from now on has `requestTimeout` at least. */
function look(queue: RequestQueue): void {
  const now = Date.now();
  for (const request of [...queue.inflight.values()]) if (now - request.sentAt > request.requestTimeout) request.timeoutRequest();
  if (!queue.isConnected()) return queue.destroy();
  const deadlines = [...queue.inflight.values()].map(({ sentAt, requestTimeout }) => sentAt + requestTimeout);
  lookAfter(queue, Math.min(now + queue.requestTimeout, ...deadlines) - now + 1);
}
