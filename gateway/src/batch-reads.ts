// Records that several requests ask for at the same moment, as one call (docs/adr/0014): what carries a call, on both sides, costs
// several times what finding a record by its key does.
import { ApiError, WireCursor, type Operation, type Resource } from '@truckroll/contract';
import { RecordReadServiceService } from '@truckroll/contract/gen/records/v1/record_reads';
import { giveBack, onBehalfOf, type Channel } from '@truckroll/service-kit';

/** Of one call. Its answer is whole when the last of its records is, and its service does nothing else meanwhile. */
const MOST_TOGETHER = 32;
/** How long each record is asked for by itself after a call that could not be served: by an older release, or one record of it. Milliseconds. */
const APART_MS = 10_000;
const { path: BATCH_RPC } = RecordReadServiceService.batchGetRecords;
/** Of `path` in BatchGetRecordsRequest. */
const PATH_TAG = 0x12;

/** A record by its encoded GetXRequest, as an encoded GetXResponse. `alone` asks for it by its own rpc. Rejects with ApiError, or as `alone` does. */
export type BatchRead = (request: Buffer, alone: () => Promise<Buffer>) => Promise<Buffer>;

interface Waiting {
  readonly request: Buffer;
  /** Undefined: it is to be asked for by itself. */
  resolve(answer: Buffer | undefined): void;
  reject(error: ApiError): void;
}

/** Whether requests of the record's own rpc, one after the other, are keys of a batch. */
export function isBatchable({ kind, request: { fields } }: Operation): boolean {
  const [key, ...others] = fields;
  return kind === 'detail' && key?.number === 1 && key.shape?.typeName === 'truckroll.type.v1.Key' && others.length === 0;
}

/**
 * Details of one kind of record. What is asked for in one turn of the event loop goes together, and waits for nothing else: neither for calls before
 * it, nor for more to come. While none is under way, the first goes by itself and at once.
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
      const told = ApiError.from(error);
      if (told.status === 503) return batch.forEach(({ reject }) => reject(told));
      apartUntil = performance.now() + APART_MS;
      leaveApart(batch);
    } finally {
      underWay -= 1;
    }
  }

  const together = (request: Buffer): Promise<Buffer | undefined> =>
    new Promise((resolve, reject) => {
      waiting.push({ request, resolve, reject });
      // On behalf of no request, as it is of several.
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

/** Throws where there are not as many reads as keys. */
function answerEach(batch: readonly Waiting[], answer: Buffer): void {
  const reads: Buffer[] = [];
  // Copied, for the memory of the whole is used again.
  for (const cursor = new WireCursor(answer); cursor.field !== 0; cursor.advance()) reads.push(Buffer.from(answer.subarray(cursor.body, cursor.end)));
  if (reads.length !== batch.length) throw new Error(`${batch.length} records were asked for and ${reads.length} were answered`);
  batch.forEach(({ resolve, reject }, index) => {
    const read = reads[index] as Buffer;
    if (read.length === 0) reject(ApiError.notFound());
    else resolve(read);
  });
}
