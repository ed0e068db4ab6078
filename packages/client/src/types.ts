// Types of each operation's input and answer, derived from the OpenAPI description.
import type { components, operations, paths } from './gen/api.ts';

export type { components, paths };
export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

/** The operation at a path and method; never if there is none. */
export type OperationAt<P extends keyof paths, M extends Method> = paths[P] extends Record<M, infer O> ? O : never;
export type PathsWith<M extends Method> = { [P in keyof paths]: OperationAt<P, M> extends never ? never : P }[keyof paths];

type Succeeded = 200 | 201 | 202;

export type BodyOf<O> = O extends { responses: infer R }
  ? { [S in keyof R & Succeeded]: R[S] extends { content: { 'application/json': infer B } } ? B : never }[keyof R & Succeeded]
  : never;

type PathInput<O> = O extends { parameters: { path: infer P } } ? { path: P } : { path?: never };
type QueryInput<O> = O extends { parameters: { query: infer Q } }
  ? { query: Q }
  : O extends { parameters: { query?: infer Q } }
    ? { query?: Q }
    : { query?: never };
type BodyInput<O> = O extends { requestBody: { content: { 'application/json': infer B } } } ? { body: B } : { body?: never };
type KeyInput<O> = O extends { parameters: { header: { 'Idempotency-Key': string } } } ? { idempotencyKey?: string } : { idempotencyKey?: never };

export interface CallOptions {
  /** Aborts the call, or the pause between its attempts; the call rejects with the signal's reason. */
  signal?: AbortSignal;
  /** Timeout of each attempt including its body, in milliseconds, from 1. Default: the client's. */
  timeoutMs?: number;
  /** Maximum retries of a call that may be repeated, from 0. Default: the client's. */
  retries?: number;
  /** Added to the client's headers. */
  headers?: Record<string, string>;
}

/** Input of any operation; `held` is for how many seconds the API may hold a long poll. */
export type Input = CallOptions & { path?: Record<string, string>; query?: Record<string, unknown>; body?: unknown; idempotencyKey?: string; held?: number };
/** Input of an operation. A missing idempotency key is generated; give your own to survive a restart of your process. */
export type InputOf<O> = PathInput<O> & QueryInput<O> & BodyInput<O> & KeyInput<O> & CallOptions;
/** The argument may be omitted if none of its properties are required. */
export type Argument<O> = [RequiredKeys<InputOf<O>>] extends [never] ? [input?: InputOf<O>] : [input: InputOf<O>];
type RequiredKeys<T> = { [K in keyof T]-?: object extends Pick<T, K> ? never : K }[keyof T];

/** The body of a success, with its response and request id. */
export type Answer<B> = B & { readonly response: Response; readonly requestId: string };

export type PagedPath = {
  [P in PathsWith<'get'>]: BodyOf<OperationAt<P, 'get'>> extends { data: unknown[]; pagination: unknown } ? P : never;
}[PathsWith<'get'>];
export type PageOf<P extends PagedPath> = Answer<BodyOf<OperationAt<P, 'get'>>>;
export type RecordOf<P extends PagedPath> = BodyOf<OperationAt<P, 'get'>> extends { data: (infer R)[] } ? R : never;

type OperationId = keyof operations;
/** What an operation takes in its query, or as its body. */
export type QueryOf<I extends OperationId> = NonNullable<operations[I]['parameters']['query']>;
export type RequestOf<I extends OperationId> = operations[I] extends { requestBody?: { content: { 'application/json': infer B } } } ? B : never;
/** What a call of an operation resolves to. */
export type ResultOf<I extends OperationId> = Promise<Answer<BodyOf<operations[I]>>>;
/** The records of a list or the rows of a report, and `pages`, which iterates over whole pages instead. Nothing is read before it is needed. */
export type Listing<I extends OperationId> =
  BodyOf<operations[I]> extends { data: (infer R)[] }
    ? AsyncGenerator<R, void, void> & { pages(): AsyncGenerator<Answer<BodyOf<operations[I]>>, void, void> }
    : never;
/** A missing idempotency key is generated; give your own to survive a restart of your process. */
export type WriteOptions = CallOptions & { idempotencyKey?: string };

export type ErrorDetail = components['schemas']['ErrorDetail'];
/** Error codes of this release; later releases may add more. */
export type ErrorCode = components['schemas']['ApiError']['code'];
