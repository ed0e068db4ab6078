// Finds ids that a file repeats in different batches. The owner sees one batch at a time and reports repeats within it.
import type { ImportResponse, LineProblem } from '@truckroll/contract/gen/records/v1/records';
import type { Batch } from './lines.ts';

/** The start of a record as export writes it: the id comes first, so the rest need not be parsed. */
const ID_FIRST = /^\{"id":"([-0-9a-f]{36})"[,}]/;
const HEAD_BYTES = 48;

/** Remembers the id of every stored line, about 100 bytes each, while its file is imported. */
export class Repeats {
  readonly #lines = new Map<string, number>();

  /** Problems for earlier lines that lines of this batch replaced. Call it with the batches in file order. */
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

/** Reads a line as its owner does, which takes a byte order mark before it. */
const utf8 = new TextDecoder();

/** The id in a line that the owner has stored, which is therefore valid JSON without duplicate keys. */
function idIn(text: Buffer): string | undefined {
  const id = ID_FIRST.exec(text.toString('latin1', 0, HEAD_BYTES))?.[1] ?? (JSON.parse(utf8.decode(text)) as { id?: unknown }).id;
  return typeof id === 'string' ? id.toLowerCase() : undefined;
}
