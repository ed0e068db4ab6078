import pino from 'pino';
import { currentRequest, traceIdOf } from './request-context.ts';

/** How long a line may wait for others. */
const GATHER_MS = 20;

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;

/** Structured logging. Fields first, then a constant sentence, so that lines can be grouped by their message. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  child(fields: Record<string, unknown>): Logger;
}

let elsewhere: { write(lines: string): void } | undefined;

/** Has every log that is made from now on written there instead of to standard output: for tests, which show it when they fail. */
export function logTo(destination: { write(lines: string): void }): void {
  elsewhere = destination;
}

/**
 * One JSON line per entry on standard output. Errors go under `error` or `err`, with stack and causes: they are for operators
 * only and may name statements and hosts, which answers never do. What is written on behalf of a request has its `requestId` and
 * `traceId`, by themselves. Personal data and credentials are never logged; the
 * redaction is the second net.
 */
export function createLog(service: string, level: LogLevel = 'info', destination?: { write(line: string): void }): Logger {
  const options: pino.LoggerOptions = {
    level,
    base: { service },
    mixin: ofRequest,
    // Copying a line that needs nothing more would cost as much as a field of it.
    mixinMergeStrategy: (fields: object, more: object) => (more === NOTHING ? fields : Object.assign(more, fields)),
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }), log: redacted, bindings: redacted },
    serializers: { error: pino.stdSerializers.errWithCause, err: pino.stdSerializers.errWithCause },
  };
  // Not pino's own writer: that one writes from a thread, and mixes up or loses the last lines of a process.
  return pino(options, destination ?? elsewhere ?? gathered(process.stdout));
}

const NOTHING = Object.freeze({});

/** What a line does not name by itself. */
function ofRequest(fields: object): object {
  if ('requestId' in fields) return NOTHING;
  const request = currentRequest();
  return request === undefined ? NOTHING : { requestId: request.requestId, traceId: traceIdOf(request) };
}

const SENSITIVE = ['password', 'authorization', 'token', 'secret'];

/** The fields without what must not be shown, also one level down. Not pino's redaction, which copies every line. */
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
  const shown = Object.entries(value).map(([key, each]) => [key, SENSITIVE.includes(key) ? '[Redacted]' : each]);
  // An error keeps what it has not as fields of its own: stack, cause, name.
  return Object.assign(value instanceof Error ? (Object.create(value) as object) : {}, Object.fromEntries(shown));
}

/** Lines of a moment leave together: one system call for each is a twentieth of what a read costs. */
function gathered(out: { write(text: string): unknown }): { write(line: string): void } {
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
      timer ??= setTimeout(flush, GATHER_MS).unref();
    },
  };
}

export const silentLog: Logger = createLog('silent', 'silent');
