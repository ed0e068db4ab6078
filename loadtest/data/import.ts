// Imports a company's records as operators do: JSON lines in batches, acknowledged when committed.
import { resource, type Owner } from '@truckroll/contract';
import { ImportServiceService, type ImportRequest } from '@truckroll/contract/gen/records/v1/records';
import type { DemoFile } from '@truckroll/demo-company';
import type { Channel } from '@truckroll/grpc';
import { isUnavailable } from '@truckroll/postgres';

/** A file of an import; `path` has no `.ndjson`. */
export interface Lines {
  readonly path: string;
  readonly lines: Iterable<Buffer>;
}

const BATCH = 500;
/** Consecutive interrupted streams after which the import fails. */
const MOST_CUTS = 5;
/** Batches that may await their answers: enough to keep the owner busy, few enough to keep memory small. */
const MOST_UNANSWERED = 4;

export type Channels = Readonly<Partial<Record<Owner, Channel>>>;

/** Calls `onRecords` after each stored batch. Throws when a line is refused. */
export function importFile(channels: Channels, companyId: string, file: DemoFile, onRecords: (count: number) => void): Promise<void> {
  return importLines(channels, companyId, { path: file.path, lines: linesOf(file) }, onRecords);
}

export function* linesOf({ records }: DemoFile): Generator<Buffer> {
  for (const record of records) yield Buffer.from(JSON.stringify(record));
}

/** As `importFile`, for lines that already exist. */
export async function importLines(channels: Channels, companyId: string, { path, lines }: Lines, onRecords: (count: number) => void): Promise<void> {
  const channel = channels[resource(path).owner];
  if (channel === undefined) throw new Error(`nothing is running that stores ${path}`);
  const source = requestsOf(companyId, path, lines);
  const unanswered: ImportRequest[] = [];
  let answered = Promise.withResolvers<void>();
  let done = false;
  let streams = 0;
  async function* requests(): AsyncGenerator<ImportRequest> {
    const stream = ++streams;
    // Resend what an interrupted stream left unanswered: storing it twice changes nothing.
    yield* [...unanswered];
    while (!done) {
      while (unanswered.length === MOST_UNANSWERED) await answered.promise;
      // This stream was cut off while it waited.
      if (stream !== streams) return;
      const next = source.next();
      if (next.done === true) done = true;
      else {
        unanswered.push(next.value);
        yield next.value;
      }
    }
  }
  for (let cuts = 0; !done || unanswered.length > 0; ) {
    try {
      for await (const { problems, lines } of channel.client(ImportServiceService).import(requests())) {
        const [problem] = problems;
        if (problem !== undefined) throw new Error(`${path}.ndjson:${problem.line} ${problem.field}: ${problem.message}`);
        unanswered.shift();
        answered.resolve();
        answered = Promise.withResolvers();
        onRecords(lines);
        cuts = 0;
      }
    } catch (error) {
      // A service closes every connection after five minutes, so that clients discover new replicas.
      if (!isUnavailable(error) || ++cuts > MOST_CUTS) throw error;
    }
  }
}

function* requestsOf(companyId: string, path: string, all: Iterable<Buffer>): Generator<ImportRequest, undefined> {
  let first = 1;
  for (const lines of batches(all, BATCH)) {
    yield { company_id: companyId, path, lines, first_line: first };
    first += lines.length;
  }
  return undefined;
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
