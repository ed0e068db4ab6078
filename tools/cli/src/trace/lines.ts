import { createReadStream, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { onOneLine } from '@truckroll/integrator-cli/terminal/printable';

export interface LogLine {
  readonly time: string;
  readonly service: string;
  readonly level: string;
  readonly msg: string;
  readonly requestId?: string;
  readonly traceId?: string;
  readonly [field: string]: unknown;
}

/** Each log has a newer half, `name.log`, and an older one, `name.log.1`. */
const LOG = /\.log(\.1)?$/;

/** A request's id, or the id of its trace, as it appears in log lines. Undefined if the text is neither. */
export function requestName(text: string): string | undefined {
  const lower = text.trim().toLowerCase();
  return /^([0-9a-f]{32}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$/.test(lower) ? lower : undefined;
}

/** All log lines of the request, by time. Throws ENOENT if there is no such folder. */
export async function linesOf(folder: string, name: string): Promise<LogLine[]> {
  const found: LogLine[] = [];
  for (const file of readdirSync(folder)
    .filter((each) => LOG.test(each))
    .sort()) {
    for await (const text of createInterface({ input: createReadStream(join(folder, file)), crlfDelay: Infinity })) {
      // Logs have hundreds of thousands of lines, so only matching ones are parsed.
      if (!text.includes(name)) continue;
      const line = parse(text);
      if (line !== undefined && (line.requestId === name || line.traceId === name)) found.push(line);
    }
  }
  // Lines with the same time stay in the order in which their component wrote them.
  return found.toSorted((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : 0));
}

const SHOWN_APART = new Set(['time', 'service', 'level', 'msg', 'requestId', 'traceId']);

/** The remaining fields as `name=value`; an error is shown by its message and its innermost cause. */
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
    // Database servers write other formats, and the last line may be incomplete.
    return undefined;
  }
}
