// What keys asked and how it was answered, for GET /api/v1/integrations/requests (decisions §19). Nothing here delays an answer: requests are
// noted when their answer has ended, kept in memory for a second, and dropped where there is no room or integrations does not take them.
import { now, type ErrorDetail } from '@truckroll/contract';
import { LoggedRequests, type LoggedRequest, type RequestChunk, type RequestFault } from '@truckroll/contract/gen/integrations/v1/requests';
import { PeriodicTask, logOutage } from '@truckroll/process';
import type { Logger, Metrics } from '@truckroll/telemetry';
import type { Exchange } from './exchange.ts';

const FLUSH_MS = 1000;
/** Bytes of requests that wait to be sent, which is also the most of one call. The first half is for all keys, the second only for those below an equal share of a half. */
const MOST_BYTES = 4_000_000;
/** Size of a request without details and of one detail, at most. */
const REQUEST_BYTES = 250;
const DETAIL_BYTES = 150;
const MOST_DETAILS = 10;
/** Requests of a row that integrations stores. */
const MOST_IN_A_CHUNK = 250;
const FIRST_FAILURE = 400;
/** What is kept as the name of a field. Anything else may be a value in the wrong place, such as a key or an address. */
const NAME = /^(?!.*trk_)[\w.$[\]-]{1,64}$/i;

interface OfKey {
  /** That of the company, if there are several. */
  readonly cell: string | undefined;
  readonly companyId: string;
  readonly keyId: string;
  readonly requests: LoggedRequest[];
  bytes: number;
}

/** Sends to integrations of a cell. */
type Store = (chunks: RequestChunk[], cell: string | undefined) => Promise<unknown>;

export class RequestHistory {
  readonly #store: Store;
  readonly #dropped;
  readonly #task: PeriodicTask;
  #waiting = new Map<string, OfKey>();
  #bytes = 0;

  constructor(store: Store, log: Logger, metrics: Metrics) {
    this.#store = store;
    this.#dropped = metrics.counter(
      'gateway_request_history_dropped_total',
      'Requests of keys that are missing in their history: too many waited (`full`), or integrations did not take them (`refused`)',
      ['reason'],
    );
    const failed = (error: unknown, failures: number): void => logOutage(log, 'requests are missing in the history of their keys', failures, error);
    this.#task = new PeriodicTask(FLUSH_MS, () => this.flush(), failed);
  }

  start(): void {
    this.#task.start();
  }

  /** Sends what is left. */
  async stop(): Promise<void> {
    await this.#task.stop();
    await this.flush().catch(() => undefined);
  }

  /** Notes the request of a key. Keeps nothing of the exchange, whose answer is large. */
  note({ principal, requestId, req, operation, route, errorCode, details = [], peer }: Exchange, status: number, milliseconds: number): void {
    if (principal?.key_id == null) return;
    const { company_id: companyId, key_id: keyId, cell = null } = principal;
    const faults = details.slice(0, MOST_DETAILS).map(faultOf);
    const size = REQUEST_BYTES + faults.length * DETAIL_BYTES;
    let own = this.#waiting.get(keyId);
    if (!this.#hasRoom(size, own)) return this.#dropped.inc({ reason: 'full' });
    if (own === undefined) this.#waiting.set(keyId, (own = { cell: cell ?? undefined, companyId, keyId, requests: [], bytes: 0 }));
    own.bytes += size;
    this.#bytes += size;
    own.requests.push({
      id: requestId,
      at: now(),
      key: null,
      method: req.method.slice(0, 10),
      route: operation?.route ?? route ?? null,
      status,
      error_code: errorCode ?? null,
      details: faults,
      duration_ms: Math.round(milliseconds),
      address: peer ?? null,
    });
  }

  #hasRoom(size: number, own: OfKey | undefined): boolean {
    const half = MOST_BYTES / 2;
    if (this.#bytes + size <= half) return true;
    const share = half / (this.#waiting.size + (own === undefined ? 1 : 0));
    return this.#bytes + size <= MOST_BYTES && (own?.bytes ?? 0) + size <= share;
  }

  /** Sends what waits. What cannot be sent is dropped: it must not fill the memory while integrations is away. */
  async flush(): Promise<void> {
    const waiting = [...this.#waiting.values()];
    this.#waiting = new Map();
    this.#bytes = 0;
    const sent = await Promise.allSettled([...Map.groupBy(waiting, ({ cell }) => cell)].map(([cell, own]) => this.#send(own.flatMap(chunksOf), cell)));
    for (const each of sent) if (each.status === 'rejected') throw each.reason;
  }

  async #send(chunks: RequestChunk[], cell: string | undefined): Promise<void> {
    try {
      await this.#store(chunks, cell);
    } catch (error) {
      this.#dropped.inc(
        { reason: 'refused' },
        chunks.reduce((sum, { count }) => sum + count, 0),
      );
      throw error;
    }
  }
}

/** What was wrong, without values: messages may repeat one, and where a name is expected there may be one. */
function faultOf({ location, field, code }: ErrorDetail): RequestFault {
  return { location, field: NAME.test(field) ? field : null, code };
}

function chunksOf({ companyId, keyId, requests: all }: OfKey): RequestChunk[] {
  return [false, true].flatMap((failed) => {
    const own = all.filter(({ status }) => status >= FIRST_FAILURE === failed);
    return Array.from({ length: Math.ceil(own.length / MOST_IN_A_CHUNK) }, (_, index) => {
      const part = own.slice(index * MOST_IN_A_CHUNK, (index + 1) * MOST_IN_A_CHUNK);
      const { buffer, byteOffset, byteLength } = LoggedRequests.encode({ requests: part }).finish();
      const requests = Buffer.from(buffer, byteOffset, byteLength);
      const [first_at, last_at] = [part[0]?.at ?? 0, part.at(-1)?.at ?? 0];
      return { company_id: companyId, key_id: keyId, failed, first_at, last_at, count: part.length, requests };
    });
  });
}
