// Fault: eight, listed at `repairKafkajs`.
// Upstream: tulios/kafkajs#1556 and #1704 (timer of idle connections), #1606 and #1655 (a stop waits for the fetch), #475 (copies of the
// encoder); no upstream issue known about the others.
// Ends: with kafkajs itself, whose last stable release is 2.2.4 (docs/adr/0016).
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
 * Repairs faults of kafkajs 2.2.4, its last stable release, that its API cannot work around. Runs once per process. In kafkajs:
 *
 * - An idle connection sets a 1 ms timer for ever, about 3 % of a core per client.
 * - Every connection checks for late requests ten times a second, although requests may take 20 s: most CPU time of an idle process.
 * - A request made while its connection closes is never sent and has no timeout, so its caller waits for ever.
 * - Callers that find a connection lost at the same time open one each, and all of them feed the same parser.
 * - Partitions without messages in a fetch response are processed as batches too: 49 of 50 batches are empty.
 * - A consumer that stops waits for the broker to answer its fetch, which takes long on a quiet topic.
 * - A request is copied twice, each time into a zeroed buffer rounded up to a power of two.
 * - Every record and header is written into its own buffer, which is then copied seven times: 80 % of the time to encode an event.
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
    // The connection has ended; also reject requests made before their callers notice.
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

/** Delay after a connection has ended until late requests on it are rejected, in ms. kafkajs itself checks at this interval. */
const ENDED_MS = 100;

function lookAfter(queue: RequestQueue, ms: number): void {
  clearTimeout(queue.requestTimeoutIntervalId);
  queue.requestTimeoutIntervalId = setTimeout(() => look(queue), ms).unref();
}

/** Rejects late requests, and checks again at the next deadline. Requests sent after this have at least `requestTimeout` left. */
function look(queue: RequestQueue): void {
  const now = Date.now();
  for (const request of [...queue.inflight.values()]) if (now - request.sentAt > request.requestTimeout) request.timeoutRequest();
  if (!queue.isConnected()) return queue.destroy();
  const deadlines = [...queue.inflight.values()].map(({ sentAt, requestTimeout }) => sentAt + requestTimeout);
  lookAfter(queue, Math.min(now + queue.requestTimeout, ...deadlines) - now + 1);
}
