import pino from 'pino';

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

/**
 * One JSON line per entry on standard output. Errors go under `error` or `err`, with stack and causes: they are for operators
 * only and may name statements and hosts, which answers never do. Personal data and credentials are never logged; the
 * redaction is the second net.
 */
export function createLog(service: string, level: LogLevel = 'info', destination?: { write(line: string): void }): Logger {
  const options: pino.LoggerOptions = {
    level,
    base: { service },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    serializers: { error: pino.stdSerializers.errWithCause, err: pino.stdSerializers.errWithCause },
    redact: ['password', 'authorization', 'token', 'secret', '*.password', '*.authorization', '*.token', '*.secret'],
  };
  // Not pino's own writer: that one writes from a thread, and mixes up or loses the last lines of a process.
  return pino(options, destination ?? process.stdout);
}

export const silentLog: Logger = createLog('silent', 'silent');
