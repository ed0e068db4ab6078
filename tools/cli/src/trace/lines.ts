// The lines of one request, out of the logs of all components.
import { createReadStream, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { onOneLine } from '../printable.ts';

export interface LogLine {
  readonly time: string;
  readonly service: string;
  readonly level: string;
  readonly msg: string;
  readonly requestId?: string;
  readonly traceId?: string;
  readonly [field: string]: unknown;
}

/** In each file the newer half is `name.log`, the older one `name.log.1`. */
const LOG = /\.log(\.1)?$/;

/** What names a request: its id, or its trace, as lines have them. Undefined where it is neither. */
export function requestName(text: string): string | undefined {
  const lower = text.trim().toLowerCase();
  return /^([0-9a-f]{32}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$/.test(lower) ? lower : undefined;
}

/** All lines that were written on behalf of the request, in the order of time. Throws ENOENT where there is no such folder. */
export async function linesOf(folder: string, name: string): Promise<LogLine[]> {
  const found: LogLine[] = [];
  for (const file of readdirSync(folder)
    .filter((each) => LOG.test(each))
    .sort()) {
    for await (const text of createInterface({ input: createReadStream(join(folder, file)), crlfDelay: Infinity })) {
      // Logs have hundreds of thousands of lines, of which few are parsed.
      if (!text.includes(name)) continue;
      const line = parse(text);
      if (line !== undefined && (line.requestId === name || line.traceId === name)) found.push(line);
    }
  }
  // Lines of one moment stay in the order in which their component wrote them.
  return found.toSorted((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : 0));
}

const SHOWN_APART = new Set(['time', 'service', 'level', 'msg', 'requestId', 'traceId']);

/** The remaining fields as `name=value`; of an error its message and that of the cause behind all others. */
export function details(line: LogLine): string {
  return Object.entries(line)
    .filter(([name]) => !SHOWN_APART.has(name))
    .map(([name, value]) => `${name}=${onOneLine(textOf(value))}`)
    .join(' ');
}

function textOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value);
  const { message } = value as { message?: unknown };
  if (typeof message !== 'string') return JSON.stringify(value);
  let deepest = value as { message?: string; cause?: { message?: string } };
  while (deepest.cause?.message !== undefined) deepest = deepest.cause;
  return JSON.stringify(deepest.message === message ? message : `${message}: ${deepest.message}`);
}

function parse(text: string): LogLine | undefined {
  try {
    const line = JSON.parse(text) as Partial<LogLine> | null;
    return typeof line?.time === 'string' && typeof line.msg === 'string' ? (line as LogLine) : undefined;
  } catch {
    // Servers write lines of their own, and the last line may be half written.
    return undefined;
  }
}
