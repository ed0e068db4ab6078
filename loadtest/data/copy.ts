// COPY FROM STDIN over pg, which leaves sending the data to its users.
import type { EventEmitter } from 'node:events';
import type pg from 'pg';

interface Wire {
  query(text: string): void;
  sendCopyFromChunk(chunk: Buffer): void;
  endCopyFrom(): void;
}

/** Implements the Submittable interface of pg, which calls the handlers as messages arrive. */
class CopyIn {
  readonly #text: string;
  readonly #data: Buffer;
  readonly #done: (error?: Error) => void;
  #error: Error | undefined;

  constructor(text: string, data: Buffer, done: (error?: Error) => void) {
    this.#text = text;
    this.#data = data;
    this.#done = done;
  }

  submit(wire: Wire & EventEmitter): void {
    wire.query(this.#text);
  }

  handleCopyInResponse(wire: Wire): void {
    wire.sendCopyFromChunk(this.#data);
    wire.endCopyFrom();
  }

  handleCommandComplete(): void {}

  handleError(error: Error): void {
    // After a refused COPY the connection still reports that it is ready; after a broken connection nothing more comes.
    this.#error = error;
    if (!('severity' in error)) this.#done(error);
  }

  handleReadyForQuery(): void {
    this.#done(this.#error);
  }
}

export type Value = string | number | boolean | null | undefined;

export function copyRows(client: pg.ClientBase, table: string, columns: readonly string[], rows: readonly (readonly Value[])[]): Promise<void> {
  const data = Buffer.from(rows.map((row) => `${row.map(textOf).join('\t')}\n`).join(''));
  return new Promise((resolve, reject) => {
    const copy = new CopyIn(`copy ${table} (${columns.join(', ')}) from stdin`, data, (error) => (error === undefined ? resolve() : reject(error)));
    client.query(copy as unknown as pg.Submittable);
  });
}

const ESCAPES: Record<string, string> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };

function textOf(value: Value): string {
  if (value === null || value === undefined) return '\\N';
  return typeof value === 'string' ? value.replace(/[\\\t\n\r]/g, (character) => ESCAPES[character] as string) : String(value);
}
