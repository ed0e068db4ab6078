// A company's records through the import that operators use: JSON lines in batches, answered when they are committed.
import { resource, type Owner } from '@truckroll/contract';
import { ImportServiceService, type ImportRequest } from '@truckroll/contract/gen/records/v1/records';
import type { DemoFile } from '@truckroll/demo-company';
import type { Channel } from '@truckroll/service-kit';
import { batches } from './baseline.ts';

const BATCH = 500;
/** Batches that one stream carries: a service closes every connection after five minutes, so that clients find new replicas. */
const STREAM = 100;
/** Batches that may wait for their answers: the owner never waits for us, and memory stays small. */
const MOST_UNANSWERED = 4;

export type Channels = Readonly<Partial<Record<Owner, Channel>>>;

/** `onRecords` is told of every stored batch. Throws when a line is refused. */
export async function importFile(channels: Channels, companyId: string, { path, records }: DemoFile, onRecords: (count: number) => void): Promise<void> {
  const channel = channels[resource(path).owner];
  if (channel === undefined) throw new Error(`nothing is running that stores ${path}`);
  const source = batches(records, BATCH)[Symbol.iterator]();
  let next = source.next();
  let first = 1;
  let unanswered = 0;
  let answered = Promise.withResolvers<void>();
  async function* requests(): AsyncGenerator<ImportRequest> {
    for (let sent = 0; sent < STREAM && next.done !== true; sent++, next = source.next()) {
      const batch = next.value;
      while (unanswered === MOST_UNANSWERED) await answered.promise;
      unanswered += 1;
      yield { company_id: companyId, path, lines: batch.map((record) => Buffer.from(JSON.stringify(record))), first_line: first };
      first += batch.length;
    }
  }
  while (next.done !== true) {
    for await (const { problems, lines } of channel.client(ImportServiceService).import(requests())) {
      const [problem] = problems;
      if (problem !== undefined) throw new Error(`${path}.ndjson:${problem.line} ${problem.field}: ${problem.message}`);
      unanswered -= 1;
      answered.resolve();
      answered = Promise.withResolvers();
      onRecords(lines);
    }
  }
}
