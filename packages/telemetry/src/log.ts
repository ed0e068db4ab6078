import pino from 'pino';
import { currentRequest, traceIdOf } from './request-context.ts';

const BUFFER_MS = 20;

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Structured logging. Fields first, then a constant sentence, so that lines can be grouped by their message. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  child(fields: Record<string, unknown>): Logger;
}

let elsewhere: { write(lines: string): void } | undefined;

/** Redirects all loggers created from now on: for tests, which show the log if they fail. */
export function logTo(destination: { write(lines: string): void }): void {
  elsewhere = destination;
}

/**
 * One JSON line per entry on standard output. Errors go under `error` or `err`, with stack and causes: they are for operators only and
 * may name statements and hosts, which answers never do. Lines written on behalf of a request get its `requestId` and `traceId`.
 * Personal data and credentials must not be logged; the redaction is only a second line of defence.
 */
export function createLog(service: string, level: LogLevel = 'info', destination?: { write(line: string): void }): Logger {
  const options: pino.LoggerOptions = {
    level,
    base: { service },
    mixin: ofRequest,
    // Skips the copy if there is nothing to add: it costs as much as another field.
    mixinMergeStrategy: (fields: object, more: object) => (more === NOTHING ? fields : Object.assign(more, fields)),
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }), log: redacted, bindings: redacted },
    serializers: { error: pino.stdSerializers.errWithCause, err: pino.stdSerializers.errWithCause },
  };
  // Not pino's own destination, which writes from a thread and may reorder or lose the last lines of a process.
  return pino(options, destination ?? elsewhere ?? buffered(process.stdout));
}

const NOTHING = Object.freeze({});

function ofRequest(fields: object): object {
  if ('requestId' in fields) return NOTHING;
  const request = currentRequest();
  return request === undefined ? NOTHING : { requestId: request.requestId, traceId: traceIdOf(request) };
}

const SENSITIVE = ['password', 'authorization', 'token', 'secret'];

/** Redacts sensitive fields, also one level down. pino's redaction would copy every line. */
function redacted(fields: Record<string, unknown>): Record<string, unknown> {
  for (const name in fields) {
    const value = fields[name];
    if (!SENSITIVE.includes(name) && !(typeof value === 'object' && value !== null && hasSensitive(value))) continue;
    return Object.fromEntries(Object.entries(fields).map(([key, each]) => [key, SENSITIVE.includes(key) ? '[Redacted]' : inner(each)]));
  }
  return fields;
}

function hasSensitive(value: object): boolean {
  return SENSITIVE.some((name) => name in value);
}

function inner(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !hasSensitive(value)) return value;
  const shown = Object.entries(value as Record<string, unknown>).map(([key, each]) => [key, SENSITIVE.includes(key) ? '[Redacted]' : each]);
  // Inherits from the error, because stack, cause and name are not among its enumerable fields.
  return Object.assign(value instanceof Error ? (Object.create(value) as object) : {}, Object.fromEntries(shown));
}

/** Writes lines that arrive within a moment together: a system call for each would be a twentieth of a read's cost. */
function buffered(out: { write(text: string): unknown }): { write(line: string): void } {
  let lines = '';
  let timer: NodeJS.Timeout | undefined;
  const flush = (): void => {
    const text = lines;
    lines = '';
    timer = undefined;
    if (text !== '') out.write(text);
  };
  process.on('exit', flush);
  return {
    write(line) {
      lines += line;
      timer ??= setTimeout(flush, BUFFER_MS).unref();
    },
  };
}

export const silentLog: Logger = createLog('silent', 'silent');
