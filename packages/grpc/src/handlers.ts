import type { ServiceDefinition } from '@grpc/grpc-js';
import type { CallContext } from './call-context.ts';

interface Method<ReqStream extends boolean, ResStream extends boolean, Req, Res> {
  readonly path: string;
  readonly requestStream: ReqStream;
  readonly responseStream: ResStream;
  requestSerialize(value: Req): Buffer;
  requestDeserialize(bytes: Buffer): Req;
  responseSerialize(value: Res): Buffer;
  responseDeserialize(bytes: Buffer): Res;
}

export type Definition = ServiceDefinition;

/** A response, either decoded or already encoded as protobuf bytes. */
export type Response<T> = T | Buffer;

/** The function that serves a method. A stream of requests is read at the pace of the loop that consumes it. */
export type HandlerOf<M> =
  M extends Method<false, false, infer Req, infer Res>
    ? (request: Req, context: CallContext) => Promise<Response<Res>> | Response<Res>
    : M extends Method<false, true, infer Req, infer Res>
      ? (request: Req, context: CallContext) => AsyncIterable<Response<Res>>
      : M extends Method<true, true, infer Req, infer Res>
        ? (requests: AsyncIterable<Req>, context: CallContext) => AsyncIterable<Response<Res>>
        : never;

/** One function for every rpc of a service, under the rpc's name. */
export type Handlers<D> = { readonly [K in keyof D]: HandlerOf<D[K]> };

export type ResponseMetadata = (name: string) => string | undefined;

export interface CallOptions {
  /** Milliseconds from now. */
  readonly deadlineMs?: number;
  readonly signal?: AbortSignal;
  /** Called with a cancel function each time the call is sent: a cheaper alternative to `signal`. Unary calls only. */
  readonly onStart?: (cancel: () => void) => void;
  /** Whether doing it twice has the same effect as once; it is then retried once if its connection drops before the answer. Unary calls only. */
  readonly repeatable?: boolean;
  readonly requestId?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  /** Called with the peer's metadata before the answer. Unary calls only. */
  readonly onMetadata?: (metadata: ResponseMetadata) => void;
}

/** The function that calls a method. It rejects, or the loop over its answer throws, with ApiError. */
export type CallerOf<M> =
  M extends Method<false, false, infer Req, infer Res>
    ? (request: Req, options?: CallOptions) => Promise<Res>
    : M extends Method<false, true, infer Req, infer Res>
      ? (request: Req, options?: CallOptions) => AsyncIterable<Res>
      : M extends Method<true, true, infer Req, infer Res>
        ? (requests: AsyncIterable<Req>, options?: CallOptions) => AsyncIterable<Res>
        : never;

export type Callers<D> = { readonly [K in keyof D]: CallerOf<D[K]> };

/** The same service, except that responses that are bytes are sent unchanged. */
export function passingBytes(definition: Definition): ServiceDefinition {
  return Object.fromEntries(
    Object.entries(definition).map(([name, method]) => [
      name,
      { ...method, responseSerialize: (value: unknown) => (Buffer.isBuffer(value) ? value : method.responseSerialize(value)) },
    ]),
  );
}
