// Joins concurrent reads of single records into one call, because a call costs several times what finding a record does (docs/adr/0014).
import { ApiError, WireCursor, type Operation, type Resource } from '@truckroll/contract';
import { RecordReadServiceService } from '@truckroll/contract/gen/records/v1/record_reads';
import { giveBack, type Channel } from '@truckroll/grpc';
import { onBehalfOf } from '@truckroll/telemetry';

/** Maximum records per call. The service answers only when it has read the last record, and does nothing else until then. */
const MOST_TOGETHER = 32;
/** Time in ms without batches after a call failed: the service may be an older release, or one record faulty. */
const APART_MS = 10_000;
const { path: BATCH_RPC } = RecordReadServiceService.batchGetRecords;
/** The tag of `path` in BatchGetRecordsRequest. */
const PATH_TAG = 0x12;
/** The tag of `alone` in RecordRead. */
const ALONE_TAG = 0x10;

/** Reads a record: encoded GetXRequest in, encoded GetXResponse out. `alone` uses its own rpc. Rejects with ApiError, or as `alone` does. */
export type BatchRead = (request: Buffer, alone: () => Promise<Buffer>) => Promise<Buffer>;

interface Waiting {
  readonly request: Buffer;
  /** Undefined means: read the record with its own rpc. */
  resolve(answer: Buffer | undefined): void;
  reject(error: ApiError): void;
}

/** Whether requests of the record's rpc, concatenated, are the keys of a batch. */
export function isBatchable({ kind, request: { fields } }: Operation): boolean {
  const [key, ...others] = fields;
  return kind === 'detail' && key?.number === 1 && key.shape?.typeName === 'truckroll.type.v1.Key' && others.length === 0;
}

/**
 * Reads records of one kind. Reads that start in one turn of the event loop share a call; they wait neither for earlier calls nor for later
 * reads. While no call is under way, a read has its own call, at once.
 */
export function batchReads(channel: Channel, { path }: Pick<Resource, 'path'>): BatchRead {
  const ofPath = Buffer.from([PATH_TAG, path.length, ...Buffer.from(path, 'latin1')]);
  let waiting: Waiting[] = [];
  let underWay = 0;
  let apartUntil = -Infinity;

  function sendAll(): void {
    const all = waiting;
    waiting = [];
    for (let at = 0; at < all.length; at += MOST_TOGETHER) void send(all.slice(at, at + MOST_TOGETHER));
  }

  /** Never rejects. */
  async function send(batch: readonly Waiting[]): Promise<void> {
    if (batch.length === 1) return leaveApart(batch);
    underWay += 1;
    try {
      const answer = await channel.call(BATCH_RPC, Buffer.concat([...batch.map(({ request }) => request), ofPath]), { repeatable: true });
      answerEach(batch, answer);
      giveBack(answer);
    } catch (error) {
      const failure = ApiError.from(error);
      if (failure.status === 503) return batch.forEach(({ reject }) => reject(failure));
      apartUntil = performance.now() + APART_MS;
      leaveApart(batch);
    } finally {
      underWay -= 1;
    }
  }

  const together = (request: Buffer): Promise<Buffer | undefined> =>
    new Promise((resolve, reject) => {
      waiting.push({ request, resolve, reject });
      // Sent on behalf of no single request, because the batch serves several.
      if (waiting.length === 1) onBehalfOf(undefined, () => setImmediate(sendAll));
    });

  return async (request, alone) => {
    if (underWay > 0 && performance.now() >= apartUntil) {
      const answer = await together(request);
      if (answer !== undefined) return answer;
    }
    underWay += 1;
    try {
      return await alone();
    } finally {
      underWay -= 1;
    }
  };
}

function leaveApart(batch: readonly Waiting[]): void {
  for (const { resolve } of batch) resolve(undefined);
}

/** Throws if the number of reads and keys differs. */
function answerEach(batch: readonly Waiting[], answer: Buffer): void {
  const reads: Buffer[] = [];
  // Copied, because the buffer of the answer is reused.
  for (const cursor = new WireCursor(answer); cursor.field !== 0; cursor.advance()) reads.push(Buffer.from(answer.subarray(cursor.body, cursor.end)));
  if (reads.length !== batch.length) throw new Error(`${batch.length} records were asked for and ${reads.length} were answered`);
  batch.forEach(({ resolve, reject }, index) => {
    const read = reads[index] as Buffer;
    if (read.length === 0) reject(ApiError.notFound());
    else resolve(read[0] === ALONE_TAG ? undefined : read);
  });
}
