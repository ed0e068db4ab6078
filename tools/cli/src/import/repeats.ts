// Ids that a file gives in more than one batch: the owner, which sees one batch at a time, reports those within it.
import type { ImportResponse, LineProblem } from '@truckroll/contract/gen/records/v1/records';
import type { Batch } from './lines.ts';

/** How exports write a record: its id comes first, and needs no reading of the rest. */
const ID_FIRST = /^\{"id":"([-0-9a-f]{36})"[,}]/;
const HEAD_BYTES = 48;

/** Remembers the id of every line that was stored: some 100 bytes each, as long as its file is imported. */
export class Repeats {
  /** The line that came last, by id. */
  readonly #lines = new Map<string, number>();

  /** What is to be said of lines that were stored in the place of earlier ones. Batches come in the order of the file. */
  of({ firstLine, lines }: Batch, { problems }: ImportResponse): LineProblem[] {
    const refused = new Set(problems.map(({ line }) => line));
    const repeats: LineProblem[] = [];
    lines.forEach((text, index) => {
      const line = firstLine + index;
      const id = text.length === 0 || refused.has(line) ? undefined : idIn(text);
      if (id === undefined) return;
      const before = this.#lines.get(id);
      this.#lines.set(id, line);
      if (before !== undefined)
        repeats.push({
          line: before,
          field: 'id',
          code: 'INVALID_FORMAT',
          message: `Line ${line} has the same id and has replaced this one: leave one of them out.`,
        });
    });
    return repeats;
  }
}

/** Of a line that the owner has stored: it is JSON, and gives no key twice. */
function idIn(text: Buffer): string | undefined {
  const id = ID_FIRST.exec(text.toString('latin1', 0, HEAD_BYTES))?.[1] ?? (JSON.parse(text.toString()) as { id?: unknown }).id;
  return typeof id === 'string' ? id.toLowerCase() : undefined;
}
