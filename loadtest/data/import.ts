// Imports a company's records as operators do.
import { resource, type Owner } from '@truckroll/contract';
import { ImportServiceService } from '@truckroll/contract/gen/records/v1/records';
import { deliver } from '@truckroll/cli/import';
import { generateCompany, type DemoFile, type DemoOptions } from '@truckroll/demo-company';
import type { Channel } from '@truckroll/grpc';
import { say } from '@truckroll/local-stack';
import { once, withClient } from '../system/postgres.ts';
import type { Stack } from '../system/stack.ts';
import { TIMEZONE, UNTIL, type BenchmarkCompany } from './companies.ts';

type Channels = Readonly<Partial<Record<Owner, Channel>>>;
type Generated = Pick<DemoOptions, 'seed' | 'size'>;

const BATCH = 500;

/** Resolves to the number of records. Throws when a line is refused. */
export function importFile(channels: Channels, companyId: string, { path, records }: DemoFile): Promise<number> {
  return importLines(channels, companyId, path, linesOf(records));
}

/** Imports what a generated company has of these owners. Other records create those of integrations. */
export async function importCompany(channels: Channels, companyId: string, options: Generated, of: readonly Owner[]): Promise<void> {
  for (const file of generateCompany({ ...options, timezone: TIMEZONE, until: UNTIL })) {
    if (of.includes(resource(file.path).owner)) await importFile(channels, companyId, file);
  }
}

/** As `importCompany`, unless the database holds the records. Resolves when their events are published. */
export function importOnce(stack: Stack, channels: Channels, { id, name }: BenchmarkCompany, options: Generated, of: readonly Owner[]): Promise<void> {
  const make = (): Promise<void> => {
    say(`making the records of ${name}, once …`);
    return importCompany(channels, id, options, of);
  };
  return withClient(stack, (client) => once(client, `${name} ${JSON.stringify(options)}`, make, ['scheduling', 'billing']));
}

export function* linesOf(records: Iterable<object>): Generator<Buffer> {
  for (const record of records) yield Buffer.from(JSON.stringify(record));
}

/** As `importFile`, for lines that already exist. */
export async function importLines(channels: Channels, companyId: string, path: string, lines: Iterable<Buffer>): Promise<number> {
  const channel = channels[resource(path).owner];
  if (channel === undefined) throw new Error(`nothing is running that stores ${path}`);
  const { import: call } = channel.client(ImportServiceService);
  let count = 0;
  for await (const { answer } of deliver(toSend(lines), { call, companyId, path, signal: new AbortController().signal })) {
    const [problem] = answer.problems;
    if (problem !== undefined) throw new Error(`${path}.ndjson:${problem.line} ${problem.field}: ${problem.message}`);
    count += answer.lines;
  }
  return count;
}

async function* toSend(all: Iterable<Buffer>) {
  let firstLine = 1;
  for (const lines of batches(all, BATCH)) {
    yield { firstLine, lines, readBytes: 0 };
    firstLine += lines.length;
  }
}

export function* batches<T>(records: Iterable<T>, size: number): Generator<T[]> {
  let batch: T[] = [];
  for (const record of records) {
    batch.push(record);
    if (batch.length < size) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
