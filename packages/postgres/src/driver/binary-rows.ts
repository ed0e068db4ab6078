// Fault: pg decodes every column as UTF-8 text, even of statements that request binary results, which destroys the bytes.
// Upstream: brianc/node-postgres#3495 (issue, open), brianc/node-postgres#3496.
// Ends: with a version of pg that returns binary columns as the bytes it received.
import { EventEmitter } from 'node:events';
import type { BinaryRow } from '../statement.ts';

/**
 * Reads rows of binary results and leaves all other messages to pg. Columns are views of the bytes that the socket delivered; nothing is
 * copied.
 *
 * PostgreSQL protocol 3: every message is a type byte and a 32-bit length that includes itself; a DataRow ('D') has a
 * 16-bit column count and, for each column, a 32-bit length (-1 is NULL) and that many bytes.
 */

export interface RowConnection extends EventEmitter {
  attachListeners(stream: EventEmitter): void;
}

function columnsAt(bytes: Buffer, start: number): BinaryRow {
  const columns = new Array<Buffer | null>(bytes.readUInt16BE(start));
  let offset = start + 2;
  for (let index = 0; index < columns.length; index += 1) {
    const length = bytes.readInt32BE(offset);
    offset += 4;
    columns[index] = length === -1 ? null : bytes.subarray(offset, offset + length);
    if (length > 0) offset += length;
  }
  return columns;
}

const DATA_ROW = 0x44;
const HEADER = 5;

/** Patches a pg connection before it connects. `rowsOf` returns the array for rows of the current statement, or undefined to leave them to pg. */
export function readBinaryRows(connection: RowConnection, rowsOf: () => BinaryRow[] | undefined): void {
  const attachListeners = connection.attachListeners?.bind(connection);
  if (attachListeners === undefined) throw new Error('this version of pg has no connection.attachListeners');
  connection.attachListeners = (stream) => {
    const rest = new EventEmitter();
    attachListeners(rest);
    stream.on(
      'data',
      createSplitter(rowsOf, (bytes) => rest.emit('data', bytes)),
    );
    stream.on('end', () => rest.emit('end'));
  };
}

/** Splits a stream into messages: rows go to the array from rowsOf, which is called per row, and all others to onRest, in order. */
export function createSplitter(rowsOf: () => BinaryRow[] | undefined, onRest: (bytes: Buffer) => void): (chunk: Buffer) => void {
  let partial: Buffer | undefined;

  return (chunk) => {
    let bytes = chunk;
    if (partial !== undefined) {
      const head: Buffer = partial;
      const needed = head.length < HEADER ? undefined : messageLength(head, 0) - head.length;
      if (needed !== undefined && needed > chunk.length) {
        partial = Buffer.concat([head, chunk]);
        return;
      }
      partial = undefined;
      // Copies only the message that was split between chunks; the rest of the chunk is read in place.
      if (needed !== undefined) {
        scan(Buffer.concat([head, chunk.subarray(0, needed)]));
        bytes = chunk.subarray(needed);
      } else {
        bytes = Buffer.concat([head, chunk]);
      }
    }
    scan(bytes);
  };

  function scan(bytes: Buffer): void {
    let offset = 0;
    let runStart = 0;
    // Whether the run holds messages that pg must see before rowsOf is called.
    let pending = false;
    while (offset + HEADER <= bytes.length) {
      const end = offset + messageLength(bytes, offset);
      if (end > bytes.length) break;
      if (bytes[offset] !== DATA_ROW) {
        pending = true;
      } else {
        if (pending) {
          onRest(bytes.subarray(runStart, offset));
          runStart = offset;
          pending = false;
        }
        const rows = rowsOf();
        if (rows !== undefined) {
          rows.push(columnsAt(bytes, offset + HEADER));
          runStart = end;
        }
      }
      offset = end;
    }
    if (runStart < offset) onRest(bytes.subarray(runStart, offset));
    if (offset < bytes.length) partial = bytes.subarray(offset);
  }
}

function messageLength(bytes: Buffer, offset: number): number {
  return 1 + bytes.readUInt32BE(offset + 1);
}
