import { randomUUID } from 'node:crypto';
import { Metadata } from '@grpc/grpc-js';
import type { ServerSurfaceCall } from '@grpc/grpc-js/build/src/server-call.js';
import { readRequestId, readTraceparent, type Logger, type RequestContext } from '@truckroll/telemetry';
import { OPERATOR } from './caller-credentials.ts';
import { DEFAULT_DEADLINE_MS, REQUEST_ID } from './options.ts';

/** Everything a handler knows about its call except the request. Created lazily: most reads need none of it. */
export class CallContext implements RequestContext {
  /** gRPC path: /truckroll.billing.v1.InvoiceService/ListInvoices */
  readonly method: string;
  readonly #call: ServerSurfaceCall;
  readonly #serviceLog: Logger;
  #requestId: string | undefined;
  #traceparent: string | undefined;
  #log: Logger | undefined;
  #abort: AbortController | undefined;
  #timer: NodeJS.Timeout | undefined;
  #over = false;

  constructor(call: ServerSurfaceCall, method: string, log: Logger) {
    this.#call = call;
    this.method = method;
    this.#serviceLog = log;
  }

  /** Id of the public request that this call serves; generated if the caller sent none. The log adds it to its lines. */
  get requestId(): string {
    return (this.#requestId ??= readRequestId(this.metadata(REQUEST_ID)) ?? randomUUID());
  }

  get traceparent(): string | undefined {
    return (this.#traceparent ??= readTraceparent(this.metadata('traceparent')) ?? '') || undefined;
  }

  get operator(): string | undefined {
    return this.metadata(OPERATOR);
  }

  get log(): Logger {
    return (this.#log ??= this.#serviceLog.child({ method: this.method }));
  }

  /** Aborted when the caller cancels or disconnects, or its deadline passes: the answer is no longer needed. */
  get signal(): AbortSignal {
    if (this.#abort === undefined) {
      const abort = (this.#abort = new AbortController());
      if (this.#call.cancelled) abort.abort(new CallCancelled());
      // grpc-js also emits 'cancelled' when a call succeeds.
      else
        this.#call.once('cancelled', () => {
          if (!this.#over) abort.abort(new CallCancelled());
        });
    }
    return this.#abort.signal;
  }

  /** Runs `then` once the answer is sent or no longer needed. */
  onClosed(then: () => void): void {
    // grpc-js emits 'cancelled' whenever the stream of a call closes.
    if (this.#call.cancelled) then();
    else this.#call.once('cancelled', then);
  }

  metadata(key: string): string | undefined {
    const value = this.#call.metadata.get(key)[0];
    return value === undefined ? undefined : value.toString();
  }

  /** Sends metadata ahead of the answer. Call it once, when the call can no longer fail. */
  sendMetadata(values: Readonly<Record<string, string>>): void {
    const metadata = new Metadata();
    for (const [key, value] of Object.entries(values)) metadata.set(key, value);
    this.#call.sendMetadata(metadata);
  }

  /** Runs `late` when a call without its own deadline exceeds the default one. */
  limitDuration(late: () => void): void {
    if (this.#call.getDeadline() !== Infinity) return;
    this.#timer = setTimeout(() => {
      void this.signal;
      this.#abort?.abort(new CallCancelled());
      late();
    }, DEFAULT_DEADLINE_MS);
  }

  end(): void {
    this.#over = true;
    clearTimeout(this.#timer);
  }
}

export class CallCancelled extends Error {
  override readonly name = 'CallCancelled';
  constructor() {
    super('the caller has cancelled or its deadline has passed');
  }
}
