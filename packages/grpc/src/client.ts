import { once } from 'node:events';
import { Client, Metadata, status as GrpcStatus, type ServiceError, type StatusObject } from '@grpc/grpc-js';
import { ApiError, ERROR_TRAILER, decodeError } from '@truckroll/contract';
import {
  ATTR_RPC_METHOD,
  ATTR_RPC_SYSTEM_NAME,
  RPC_SYSTEM_NAME_VALUE_GRPC,
  activeTraceparent,
  currentRequest,
  durations,
  withSpan,
  type Metrics,
} from '@truckroll/telemetry';
import { directCalls } from './driver/direct-call.ts';
import { CREDENTIAL, entryByRpc, type CallCredential } from './caller-credentials.ts';
import type { CallOptions, Callers, Definition } from './handlers.ts';
import { channelCredentials, type TlsConfig } from './tls.ts';
import { DEFAULT_DEADLINE_MS, REQUEST_ID, clientOptions, targetOf } from './options.ts';
import { repeatLookUps } from './driver/name-lookups.ts';

/** Connections to every replica of one service. */
export interface Channel {
  /** Calls an rpc with bytes in and out. Errors: ApiError as the peer sent it; 503 with Retry-After if the peer is unreachable or too slow. */
  call(path: string, request: Buffer, options?: CallOptions): Promise<Buffer>;
  client<const D extends Definition>(definition: D): Callers<D>;
  /** Readiness check: resolves when a connection is up; rejects with ApiError 503 after deadlineMs. */
  check(deadlineMs?: number): Promise<void>;
  close(): void;
}

export interface ChannelSettings {
  /** Deadline of calls that set none. Milliseconds. */
  readonly deadlineMs?: number;
  /** Credentials of the caller. If there are several, each call uses one that the contract allows for the rpc. */
  readonly credentials?: readonly CallCredential[];
  /** Plain HTTP/2 unless it sets a CA file. */
  readonly tls?: TlsConfig;
  readonly metrics?: Metrics;
}

/** Maximum retries of a call that no server has processed: each of several replicas may be closing its connection. */
const REFUSALS = 5;

/** REFUSED_STREAM guarantees that nothing was done (RFC 9113, 8.7), so writes may be retried too. grpc-js retries only once. */
function isRefused({ code, details }: Failure): boolean {
  return code === GrpcStatus.UNAVAILABLE && details === 'Stream refused by server';
}

/** The connection dropped, so the call's outcome is unknown. If the peer itself had refused, ERROR_TRAILER would be set. */
function isLost({ code, metadata }: Failure): boolean {
  return code === GrpcStatus.UNAVAILABLE && metadata?.get(ERROR_TRAILER).length === 0;
}

/** A message exceeds the maximum size of its sender or its receiver. */
function isTooLarge({ code, details }: Failure): boolean {
  return code === GrpcStatus.RESOURCE_EXHAUSTED && /larger than (?:max|\d)/.test(details);
}

type Failure = Pick<ServiceError, 'code' | 'details' | 'metadata' | 'message'>;

type Ended = (code: GrpcStatus) => void;

const asIs = (bytes: Buffer): Buffer => bytes;

/** Connects on first use. */
export function openChannel(address: string, settings: ChannelSettings = {}): Channel {
  const defaultDeadlineMs = settings.deadlineMs ?? DEFAULT_DEADLINE_MS;
  const peer = new Client(targetOf(address), channelCredentials(settings.tls ?? {}), clientOptions());

  const entryOf = entryByRpc(settings.credentials ?? []);
  const calls = durations(settings.metrics, 'rpc_client_call_duration_seconds', 'Calls that were made, retries included, by rpc and gRPC status of the last', [
    'rpc_method',
    'rpc_response_status_code',
  ]);

  function timed<T>(path: string, work: (ended: Ended) => T): T {
    const startedAt = performance.now();
    return work((code) => calls.ended(startedAt, path.slice(1), GrpcStatus[code]));
  }

  const direct = directCalls(peer);
  repeatLookUps(peer);

  function unary<Req, Res>(path: string, encode: (value: Req) => Buffer, decode: (bytes: Buffer) => Res, request: Req, options?: CallOptions): Promise<Res> {
    const limitMs = options?.deadlineMs ?? defaultDeadlineMs;
    const until = Date.now() + limitMs;
    const { signal, onStart, onMetadata, repeatable = false } = options ?? {};
    let cancelled = false;
    let lost = false;
    const passMetadata = (metadata: Metadata): void => onMetadata?.((name) => metadata.get(name)[0]?.toString());
    const attempt = (left: number, ended: Ended): Promise<Res> =>
      new Promise<Res>((resolve, reject) => {
        const end = (error: Failure | undefined, answer: () => Res): void => {
          signal?.removeEventListener('abort', cancel);
          const again = error !== undefined && !cancelled && left > 0 && (isRefused(error) || (repeatable && !lost && started !== undefined && isLost(error)));
          if (again) {
            lost ||= !isRefused(error);
            setImmediate(() => void attempt(left - 1, ended).then(resolve, reject));
            return;
          }
          ended(error?.code ?? GrpcStatus.OK);
          if (error !== undefined) return reject(translate(error));
          try {
            resolve(answer());
          } catch (cause) {
            reject(ApiError.internal(cause));
          }
        };
        const headers = headersOf(options, entryOf(path));
        const message = encode(request);
        const started = direct({
          path,
          message,
          headers,
          deadlineMs: Math.max(1, until - Date.now()),
          onMetadata: passMetadata,
          onEnd: (status, bytes) => end(status.code === GrpcStatus.OK ? undefined : failureOf(status), () => decode(bytes as Buffer)),
        });
        const stop = started ?? waiting();
        const cancel = (): void => {
          cancelled = true;
          stop();
        };
        onStart?.(cancel);
        if (signal?.aborted) cancel();
        else signal?.addEventListener('abort', cancel, { once: true });

        function waiting(): () => void {
          const call = peer.makeUnaryRequest(path, asIs, asIs, message, metadataOf(headers), { deadline: until }, (error, bytes) => {
            end(error ?? undefined, () => decode(bytes as Buffer));
          });
          call.once('metadata', passMetadata);
          return () => call.cancel();
        }
      });
    return traced(path, () => timed(path, (ended) => attempt(REFUSALS, ended)));
  }

  function caller(method: Definition[string]) {
    const { path, requestSerialize: encode, responseDeserialize: decode } = method;
    if (!method.requestStream && !method.responseStream) {
      return (request: unknown, options?: CallOptions) => unary(path, encode, decode, request, options);
    }
    return (input: unknown, options?: CallOptions) => {
      const start = () => {
        const metadata = metadataOf(headersOf(options, entryOf(path)));
        const deadline = options?.deadlineMs === undefined ? {} : { deadline: Date.now() + options.deadlineMs };
        if (!method.requestStream) return peer.makeServerStreamRequest(path, encode, decode, input, metadata, deadline);
        const call = peer.makeBidiStreamRequest(path, encode, decode, metadata, deadline);
        send(call, input as AsyncIterable<unknown>, options).catch((error: unknown) => call.destroy(error as Error));
        return call;
      };
      return timed(path, (ended) => receive(options?.signal, start, ended));
    };
  }

  return {
    call: (path, request, options) => unary(path, asIs, asIs, request, options),
    client: <const D extends Definition>(definition: D) =>
      Object.fromEntries(Object.entries(definition).map(([name, method]) => [name, caller(method)])) as Callers<D>,
    check: (deadlineMs = 1000) =>
      new Promise((resolve, reject) => {
        peer.waitForReady(Date.now() + deadlineMs, (error) => (error ? reject(ApiError.unavailable(error)) : resolve()));
      }),
    close: () => peer.close(),
  };
}

function headersOf(options: CallOptions | undefined, credential: string | undefined): Record<string, string> {
  const headers: Record<string, string> = {};
  if (credential !== undefined) headers[CREDENTIAL] = credential;
  const requestId = options?.requestId ?? currentRequest()?.requestId;
  if (requestId !== undefined) headers[REQUEST_ID] = requestId;
  Object.assign(headers, options?.metadata);
  const traceparent = activeTraceparent();
  if (traceparent !== undefined) headers['traceparent'] = traceparent;
  return headers;
}

function metadataOf(headers: Readonly<Record<string, string>>): Metadata {
  const metadata = new Metadata();
  for (const [key, value] of Object.entries(headers)) metadata.set(key, value);
  return metadata;
}

function traced<T>(path: string, work: () => Promise<T>): Promise<T> {
  return withSpan(path, 'CLIENT', { [ATTR_RPC_SYSTEM_NAME]: RPC_SYSTEM_NAME_VALUE_GRPC, [ATTR_RPC_METHOD]: path.slice(1) }, work);
}

function failureOf(status: StatusObject): Failure {
  return Object.assign(new Error(`${status.code} ${GrpcStatus[status.code]}: ${status.details}`), status);
}

function translate(error: Failure): ApiError {
  const trailer = error.metadata?.get(ERROR_TRAILER)[0];
  // A peer that shuts down cancels its last calls.
  if (error.code === GrpcStatus.CANCELLED) return ApiError.unavailable(error);
  if (isTooLarge(error)) return ApiError.tooLarge(error);
  return decodeError(error.code, Buffer.isBuffer(trailer) ? trailer : undefined, error);
}

interface Sink extends NodeJS.EventEmitter {
  write(value: unknown): boolean;
  end(): void;
  cancel(): void;
}

/** Sends at the pace of the peer. Stops when the call has ended; the call's own status says why. */
async function send(call: Sink, requests: AsyncIterable<unknown>, options: CallOptions | undefined): Promise<void> {
  const ended = new AbortController();
  call.once('status', () => ended.abort());
  call.on('error', () => undefined);
  options?.signal?.addEventListener('abort', () => call.cancel(), { once: true });
  for await (const request of requests) {
    if (ended.signal.aborted) return;
    if (!call.write(request)) await once(call, 'drain', { signal: ended.signal }).catch(() => undefined);
  }
  call.end();
}

async function* receive(signal: AbortSignal | undefined, start: () => AsyncIterable<unknown> & { cancel(): void }, ended: Ended): AsyncGenerator<unknown> {
  const call = start();
  const cancel = () => call.cancel();
  signal?.addEventListener('abort', cancel, { once: true });
  // Leaving the loop early cancels the call.
  let code = GrpcStatus.CANCELLED;
  try {
    if (signal?.aborted) cancel();
    yield* call;
    code = GrpcStatus.OK;
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && 'metadata' in error)) throw error;
    code = (error as ServiceError).code;
    throw translate(error as ServiceError);
  } finally {
    signal?.removeEventListener('abort', cancel);
    call.cancel();
    ended(code);
  }
}
