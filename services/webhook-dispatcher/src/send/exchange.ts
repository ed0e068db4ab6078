import { readTarget, type Target, type TargetPolicy } from '@truckroll/webhook-targets';
import { send, type ReceivedAnswer } from './answer.ts';
import type { Connections } from './connections.ts';
import { NoConnection } from './destinations.ts';
import { unlessForbidden } from './dial.ts';
import { failureOf, type ExchangeFailure } from './failure.ts';
import { ExchangeTime } from './exchange-time.ts';

export interface Header {
  readonly name: string;
  readonly value: string;
}

export interface ExchangeRequest {
  readonly companyId: string;
  readonly endpointId: string;
  readonly url: string;
  /** Names in lower case. Host and Content-Length are added. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** Has both a status and a failure if the answer began and did not end. */
export interface ExchangeResult {
  status?: number;
  failure?: ExchangeFailure;
  requestHeaders: Header[];
  responseHeaders: Header[];
  responseBody: Buffer;
  truncated: boolean;
  address?: string;
  /** CPU time spent reading the answer, in ms. */
  processorMs: number;
}

export interface ExchangeOptions {
  readonly connections: Connections;
  readonly policy: TargetPolicy;
  /** Time limit for the whole exchange: lookup, connection, handshake, headers and body. */
  readonly timeoutMs: number;
  /** Bytes kept of the answer's body, after decompression. */
  readonly bodyLimit: number;
}

/** Sends one POST and reads the answer. Never rejects: failures are in the result. Resolves to undefined if no connection was free. */
export async function exchange(options: ExchangeOptions, request: ExchangeRequest): Promise<ExchangeResult | undefined> {
  const result: ExchangeResult = { requestHeaders: [], responseHeaders: [], responseBody: Buffer.alloc(0), truncated: false, processorMs: 0 };
  const time = new ExchangeTime(options.timeoutMs);
  try {
    const target = unlessForbidden(() => readTarget(request.url, options.policy));
    result.requestHeaders = [
      { name: 'host', value: target.url.host },
      ...Object.entries(request.headers).map(([name, value]) => ({ name, value })),
      { name: 'content-length', value: String(request.body.length) },
    ];
    await exchangeWith(options, request, target, time, result);
  } catch (error) {
    if (error instanceof NoConnection) return undefined;
    result.failure = time.signal.aborted ? (time.signal.reason as ExchangeFailure) : failureOf(error);
  } finally {
    time.stop();
  }
  return result;
}

async function exchangeWith(options: ExchangeOptions, request: ExchangeRequest, target: Target, time: ExchangeTime, result: ExchangeResult): Promise<void> {
  const { connections, bodyLimit } = options;
  const { signal } = time;
  for (let tries = 1; ; tries += 1) {
    const connection = connections.take(request, target, time);
    const { client, dials } = connection;
    const { pathname, search } = target.url;
    const sent = { method: 'POST', path: pathname + search, headers: request.headers, body: request.body } as const;
    const answer = await send(client, sent, signal, bodyLimit);
    if (connection.address !== undefined) result.address = connection.address;
    result.processorMs += connection.processorMs;
    const error = (await keep(answer, result)) ?? answer.error;
    if (error === undefined) return connections.give(connection);
    connections.discard(connection);
    // The receiver may close an idle connection just when we send. Sending twice is safe: receivers recognise the event by its id.
    const wasKept = dials > 0 && connection.dials === dials;
    if (!wasKept || tries > 1 || result.status !== undefined || signal.aborted) throw failureOf(error, connection.head.begun);
  }
}

/** Puts what arrived into the result. Returns what is wrong with its body. */
async function keep({ status, headers, body, error }: ReceivedAnswer, result: ExchangeResult): Promise<ExchangeFailure | undefined> {
  if (status === undefined || body === undefined) return undefined;
  const { bytes, truncated, processorMs, failure } = await body.read(error === undefined);
  Object.assign(result, { status, responseHeaders: headersOf(headers), responseBody: bytes, truncated });
  result.processorMs += processorMs;
  return failure;
}

function headersOf(headers: Readonly<Record<string, string | string[] | undefined>>): Header[] {
  return Object.entries(headers).flatMap(([name, value]) => [value ?? []].flat().map((single) => ({ name: name.toLowerCase(), value: single })));
}
