// Compiles a public operation: HTTP request in, gRPC call, HTTP answer out.
import { ApiError, formatInstant, now, type ErrorDetail, type Field, type Operation, type Shape } from '@truckroll/contract';
import { giveBack, type ResponseMetadata } from '@truckroll/grpc';
import { Baseline, SHARED_WEIGHT } from '../admission/limiter.ts';
import { isBatchable } from '../batch-reads.ts';
import { JSON_TYPE, send, type Draining, type Headers } from '../http/answer.ts';
import { sendSmall } from '../http/data.ts';
import { parseJsonBody } from '../http/body.ts';
import { CSV_TYPE, compileCsv, type CsvForm } from '../http/csv.ts';
import { compileDeprecation } from '../http/deprecation.ts';
import { compileEnvelope } from '../http/envelope.ts';
import type { Exchange } from '../http/exchange.ts';
import { preferredType } from '../http/negotiation.ts';
import type { OutputPool } from '../http/output-pool.ts';
import type { UnsentAnswers } from '../http/unsent.ts';
import { unauthenticated } from '../auth/authenticate.ts';
import { refuseBeyond, type LimitClass, type Limits } from '../auth/limits.ts';
import type { ServiceAnswer, Services } from '../services.ts';
import type { CursorScope, Cursors } from './cursor.ts';
import { inputsOf } from './inputs.ts';
import { nextLink } from './next-link.ts';
import { MOST_PROBLEMS, compileQuery, type Query } from './query.ts';
import { compileWebhookCheck } from './body-rules.ts';
import { bodyShape, compileRequest, keysOf, mayBeLeftOut, readHeaders, refuseFields, readJson, readPath } from './request.ts';

export interface CompiledOperation {
  operation: Operation;
  limitClass: LimitClass;
  /** Unloaded latency of the operation. */
  baseline: Baseline;
  /** Slots of the limiter that a request holds. Default 1. */
  weight?: number;
  /** Headers of every answer, including errors. */
  headers: Headers;
  /** Throws ApiError 401 if the operation does not accept this kind of credential. */
  checkAccess(exchange: Exchange): void;
  /** Handles a request. `values` are the values of the route's placeholders. Resolves to Held if the answer is to wait. Throws ApiError. */
  handle(exchange: Exchange, values: readonly string[], body: Buffer): Promise<Held | void>;
}

/** An answer that waits without a slot of the limiter. */
export interface Held {
  /**
   * Resolves when the request continues: to a function that answers without a slot, or to undefined if `again` must be called with one. The
   * function resolves to false if it has not answered, and `again` must be called after all.
   */
  readonly over: Promise<(() => Promise<void | false>) | undefined>;
  again(): Promise<Held | void>;
}

export interface OperationContext {
  services: Services;
  limits: Limits;
  cursors: Cursors;
  outputs: OutputPool;
  unsent: UnsentAnswers;
  draining: Draining;
  /** The gateway's public address; empty if unknown. */
  base: string;
  compresses: boolean;
}

/** Problems of parameters that only CSV takes. */
function refuseCsvForm(form: CsvForm): ErrorDetail[] {
  return Object.keys(form).map((field) => ({
    location: 'query',
    field,
    code: 'UNKNOWN_PARAMETER',
    message: `JSON has ${field === 'amounts' ? 'amounts always in cents' : 'no byte order mark'}: leave it out, or ask for CSV by Accept: text/csv.`,
  }));
}

/** Headers that a service may set by response metadata, by their metadata names. */
const RESPONSE_HEADERS = { 'http-location': 'Location', 'idempotent-replayed': 'Idempotent-Replayed' };

/** Compiles what does not depend on the request once, at start. `handle` answers a request's problems together with 400, before the operation is called. */
export function compileOperation(operation: Operation, context: OperationContext): CompiledOperation {
  const { services, limits, cursors, outputs, unsent, draining, base } = context;
  const inputs = inputsOf(operation);
  const parseQuery = compileQuery(inputs);
  const encode = compileRequest(operation, inputs);
  const body = bodyShape(operation, inputs);
  const checkWebhook = compileWebhookCheck(operation, services);
  const writeEnvelope = compileEnvelope(operation);
  const writeCsv = operation.kind === 'report' ? compileCsv(operation) : undefined;
  const compresses = context.compresses && mayBeCompressed(operation);
  const varies = [...(writeCsv === undefined ? [] : ['Accept']), ...(compresses ? ['Accept-Encoding'] : [])];
  const fixed: Headers = varies.length === 0 ? [] : ['Vary', varies.join(', ')];
  const sendData = compresses ? sendSmall : send;
  const call = services.call(operation);
  const announce = compileDeprecation(operation, base);
  const prefix = base === '' ? '' : new URL(base).pathname.replace(/\/$/, '');
  const nextCursor = operation.camelCase ? 'nextCursor' : 'next_cursor';

  async function handle(exchange: Exchange, values: readonly string[], bytes: Buffer): Promise<void> {
    const principal = exchange.principal as NonNullable<Exchange['principal']>;
    unsent.check(principal.company_id);
    const query = parseQuery(exchange.query);
    const { problems } = query;
    const sendsCsv = writeCsv !== undefined && preferredType(exchange.req, ['application/json', 'text/csv']) === 'text/csv';
    if (!sendsCsv) problems.push(...refuseCsvForm(query.csv));
    const path = readPath(inputs, values, problems);
    const headers = readHeaders(inputs, (name) => exchange.req.headers[name] as string | undefined, problems);
    const leftOut = bytes.length === 0 && mayBeLeftOut(operation, body);
    const json = leftOut ? {} : body && parseJsonBody(bytes, exchange.req.headers['content-type'], body, keysOf(operation), problems);
    const message = body === undefined || json === undefined ? {} : readJson(operation, body, json, problems);
    if (body === undefined && operation.camelCase) refuseFields(bytes, problems);
    if (problems.length > 0) {
      problems.push(...(await checkWebhook(message, path[0], problems, exchange)));
      throw ApiError.invalid(problems.slice(0, MOST_PROBLEMS));
    }
    const more = writesIn(body, message) - 1;
    // A request that is sent on to another cell was counted in the first.
    if (more > 0 && exchange.counted !== true) {
      exchange.counted = true;
      refuseBeyond(exchange, await limits.consume(principal, limitClass, more));
    }

    const scope: CursorScope = { companyId: principal.company_id, operation: operation.name, filters: query.filters };
    const after = query.cursor === undefined ? undefined : openCursor(cursors, scope, query.cursor, nextCursor);
    const ask = (asked: Query): Promise<ServiceAnswer> =>
      call(encode({ principal, address: exchange.peer, path, query: asked, after, headers, body: message }), exchange);
    let answer = await ask(query);
    if (exchange.res.destroyed) return;
    // Concurrent requests may have filled the budget during the call. Answers to writes are small.
    if (operation.verb === 'GET') unsent.check(principal.company_id);

    const { metadata } = answer;
    const used = (): Field[] => [...given(query), ...(body?.fields.filter(({ name }) => message[name] !== undefined) ?? [])];
    const extra = [...fixed, ...announce(used), ...(metadata === undefined ? [] : headersOf(metadata, prefix))];
    // A position in another operation's list refers to the unfiltered list.
    const seal = (position: Uint8Array, of = operation.name): string =>
      cursors.seal(of === operation.name ? scope : { ...scope, operation: of, filters: '' }, position);
    if (sendsCsv) {
      const { body: rows, next } = writeCsv(answer.bytes, query.csv);
      if (next.length > 0) extra.push('Link', nextLink(base === '' ? '' : `${base}${exchange.path}`, exchange.query, seal(next)));
      await sendData(exchange, operation.status, rows, CSV_TYPE, extra, draining);
      return unsent.note(exchange);
    }

    const out = outputs.take();
    const meta = (timeZone = principal.time_zone): string =>
      `{"request_id":"${exchange.requestId}","generated_at":"${formatInstant(now())}","timezone":"${timeZone}"${principal.sandbox ? ',"sandbox":true' : ''}}`;
    for (let limit = Infinity; ; ) {
      const fitting = writeEnvelope(answer.bytes, { meta, seal }, out);
      giveBack(answer.bytes);
      if (fitting === undefined) break;
      if (fitting >= limit) throw new Error(`${operation.name} was asked for ${limit} records and has more`);
      limit = fitting;
      // Only the service knows where a shorter page ends.
      answer = await ask(withLimit(query, limit));
      if (exchange.res.destroyed) return;
      out.length = 0;
    }
    // If an answer is cut off, the socket may still read from its buffer, so the buffer is not reused.
    exchange.res.once('finish', () => outputs.giveBack(out));
    const status = Number(metadata?.('http-status') ?? operation.status);
    const sending = sendData(exchange, status, out.view(), JSON_TYPE, extra, draining);
    if (sending !== undefined) await sending;
    unsent.note(exchange);
  }

  const access = (exchange: Exchange): void => checkAccess(operation, (exchange.principal as NonNullable<Exchange['principal']>).kind);
  const limitClass = limitClassOf(operation);
  const weight = isBatchable(operation) ? SHARED_WEIGHT : 1;
  return { operation, limitClass, baseline: new Baseline(), weight, headers: fixed, checkAccess: access, handle };
}

/**
 * Whether answers may be compressed: reads of a company's records only. Answers that create or rotate keys and signing secrets contain a
 * secret, and others repeat what a third party sent, so that the compressed size could reveal the text next to it.
 */
export function mayBeCompressed({ verb, camelCase }: Operation): boolean {
  return verb === 'GET' && !camelCase;
}

/** Number of writes that a body counts as. */
function writesIn(body: Shape | undefined, message: Readonly<Record<string, unknown>>): number {
  const list = body?.fields.find(({ counts }) => counts)?.name;
  return list === undefined ? 1 : new Set(message[list] as readonly unknown[]).size;
}

/** The parameters that the client sent. */
function given({ values, defaulted }: Query): Field[] {
  return [...values.keys()].filter((parameter) => !defaulted.has(parameter)).map(({ field }) => field);
}

/** `prefix` is the path of the public address, for the references to paths that services return. */
function headersOf(metadata: ResponseMetadata, prefix: string): Headers {
  return Object.entries(RESPONSE_HEADERS).flatMap(([name, header]) => {
    const value = metadata(name);
    return value === undefined ? [] : [header, header === 'Location' ? `${prefix}${value}` : value];
  });
}

function limitClassOf({ kind, verb }: Operation): LimitClass {
  return kind === 'report' ? 'reports' : verb === 'GET' ? 'reads' : 'writes';
}

const CHANGERS = {
  api_key: { kind: 'PRINCIPAL_KIND_KEY', refusal: 'This needs an API key: send one in place of the user token.' },
  user_token: { kind: 'PRINCIPAL_KIND_USER', refusal: 'This needs a user token: send one in place of the API key.' },
} as const;

/** The contract says which credential an operation needs; every credential may read where it says nothing (decisions §8). */
function checkAccess({ changedBy }: Operation, kind: string): void {
  if (changedBy === undefined || changedBy === 'any') return;
  const changer = CHANGERS[changedBy];
  if (kind !== changer.kind) throw unauthenticated(changer.refusal);
}

function withLimit(query: Query, limit: number): Query {
  const values = [...query.values].filter(([{ within, name }]) => within !== 'collection' || name !== 'limit');
  return { ...query, values: new Map(values), limit };
}

function openCursor(cursors: Cursors, scope: CursorScope, cursor: string, nextCursor: string): Buffer {
  const position = cursors.open(scope, cursor);
  if (position !== undefined) return position;
  throw new ApiError(
    'INVALID_CURSOR',
    `The cursor is not one of this list: give ${nextCursor} unchanged, with the filters of the page that it came with, or start without a cursor.`,
  );
}
