// Sends batches to the owner of their records, a few at a time, and again after the connection is lost.
import { setTimeout as delay } from 'node:timers/promises';
import { ApiError, ERROR_TRAILER } from '@truckroll/contract';
import type { ImportRequest, ImportResponse } from '@truckroll/contract/gen/records/v1/records';
import { backoffMs } from '@truckroll/process';
import type { Batch } from './lines.ts';

/** Batches in flight: enough that the owner never waits for the next, and few enough to keep memory small. */
const MOST_IN_FLIGHT = 4;
/** Time in ms until the import gives up on an unavailable owner. */
const MAX_RETRY_MS = 60_000;
/** Timeout in ms of an answer. A batch takes well under a second, but may have to wait behind another company's import. */
const LONGEST_ANSWER_MS = 120_000;
/** gRPC's status for an rpc that the owner does not have. */
const UNIMPLEMENTED = 12;

/** Whether the service is of a release before this call. */
export function isUnimplemented(error: unknown): boolean {
  return error instanceof ApiError && (error.cause as { code?: number } | undefined)?.code === UNIMPLEMENTED;
}

export type ImportCall = (requests: AsyncIterable<ImportRequest>, options: { signal: AbortSignal }) => AsyncIterable<ImportResponse>;

export interface ImportStream {
  readonly call: ImportCall;
  readonly companyId: string;
  readonly path: string;
  readonly signal: AbortSignal;
  onWaiting?(): void;
  readonly maxRetryMs?: number;
}

export interface Delivered {
  readonly batch: Batch;
  readonly answer: ImportResponse;
}

/**
 * Sends every batch and yields it with its answer, in order. A batch whose answer was lost is sent again, which changes nothing if it was
 * already stored. Throws ApiError: once the owner has been unavailable too long, the last one.
 */
export async function* deliver(batches: AsyncIterable<Batch>, delivery: ImportStream): AsyncGenerator<Delivered> {
  const source = batches[Symbol.asyncIterator]();
  const unanswered: Batch[] = [];
  let failures = 0;
  let failingSince = 0;
  try {
    for (;;) {
      const attempt = new Attempt(source, unanswered, delivery);
      let failure: unknown = new ApiError('INTERNAL_ERROR', 'The owner ended the stream early.', { status: 503 });
      try {
        for await (const answer of attempt.answers()) {
          const batch = unanswered.shift();
          if (batch?.firstLine !== answer.first_line) throw new Error('an answer came out of order');
          attempt.wake();
          failures = 0;
          yield { batch, answer };
        }
        if (attempt.drained && unanswered.length === 0) return;
      } catch (error) {
        if (!isLoss(error)) throw error;
        failure = error;
      } finally {
        await attempt.end();
      }
      delivery.signal.throwIfAborted();
      failures += 1;
      if (failures === 1) failingSince = performance.now();
      if (failures === 3) delivery.onWaiting?.();
      if (performance.now() - failingSince > (delivery.maxRetryMs ?? MAX_RETRY_MS)) throw failure;
      await delay(backoffMs(failures), undefined, { signal: delivery.signal });
    }
  } finally {
    await source.return?.(undefined);
  }
}

/** Whether the connection was lost or the owner is not ready, so that the same batches may succeed on another stream. */
function isLoss(error: unknown): boolean {
  if (!(error instanceof ApiError)) return false;
  if (error.status === 503) return true;
  // A broken stream may have any status, but never an error that the owner wrote.
  const cause = error.cause as { code?: number; metadata?: { get(key: string): unknown[] } } | undefined;
  if (cause?.code === UNIMPLEMENTED) return false;
  return error.status === 500 && cause?.metadata !== undefined && cause.metadata.get(ERROR_TRAILER).length === 0;
}

/** One stream. It first sends the batches that an earlier stream left unanswered. */
class Attempt {
  drained = false;
  readonly #source: AsyncIterator<Batch>;
  readonly #unanswered: Batch[];
  readonly #delivery: ImportStream;
  readonly #abort = new AbortController();
  #receivedAt = performance.now();
  #over = false;
  #woken = Promise.withResolvers<void>();
  #sending: PromiseWithResolvers<void> | undefined;

  constructor(source: AsyncIterator<Batch>, unanswered: Batch[], delivery: ImportStream) {
    this.#source = source;
    this.#unanswered = unanswered;
    this.#delivery = delivery;
  }

  async *answers(): AsyncGenerator<ImportResponse> {
    const watch = setInterval(() => {
      const silent = performance.now() - this.#receivedAt > LONGEST_ANSWER_MS;
      if (silent && this.#unanswered.length > 0) this.#abort.abort();
    }, 1000);
    try {
      const signal = AbortSignal.any([this.#delivery.signal, this.#abort.signal]);
      for await (const answer of this.#delivery.call(this.#requests(), { signal })) {
        yield answer;
        this.#receivedAt = performance.now();
      }
    } catch (error) {
      throw this.#abort.signal.aborted ? ApiError.unavailable(error) : error;
    } finally {
      clearInterval(watch);
    }
  }

  wake(): void {
    this.#woken.resolve();
    this.#woken = Promise.withResolvers();
  }

  /** Resolves when this attempt takes nothing more from the source. */
  async end(): Promise<void> {
    this.#over = true;
    this.#abort.abort();
    this.wake();
    await this.#sending?.promise;
  }

  async *#requests(): AsyncGenerator<ImportRequest> {
    this.#sending = Promise.withResolvers();
    try {
      for (const batch of [...this.#unanswered]) yield this.#request(batch);
      while (!this.#over) {
        if (this.#unanswered.length >= MOST_IN_FLIGHT) {
          await this.#woken.promise;
          continue;
        }
        const next = await this.#source.next();
        if (next.done === true) {
          this.drained = true;
          return;
        }
        this.#unanswered.push(next.value);
        yield this.#request(next.value);
      }
    } finally {
      this.#sending.resolve();
    }
  }

  #request(batch: Batch): ImportRequest {
    return { company_id: this.#delivery.companyId, path: this.#delivery.path, lines: batch.lines, first_line: batch.firstLine };
  }
}
