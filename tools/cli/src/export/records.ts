// All records of one path into one file, a page at a time.
import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { resource, type Resource } from '@truckroll/contract';
import { readApi, type ApiClientOptions } from './http.ts';

/** What lists are ordered by. */
interface Listed {
  id?: unknown;
  created_at?: unknown;
}

interface Page {
  data: Listed[];
  pagination: { next_cursor: string | null };
}

/**
 * Writes `<folder>/<path>.ndjson`; the name appears when the file is complete. Resolves to the number of records.
 * Errors: Failure; those of the file system.
 */
export async function exportRecords(
  folder: string, path: string, options: ApiClientOptions, onPage: (count: number, share: number | undefined) => void,
): Promise<number> {
  const file = join(folder, `${path}.ndjson`);
  const partial = `${file}.partial`;
  let count = 0;
  let first: Listed | undefined;
  const { order } = resource(path);
  async function* lines(): AsyncGenerator<string> {
    let cursor: string | null = null;
    do {
      const query: Record<string, string> = { limit: '100', ...(cursor === null ? {} : { cursor }) };
      const page = (await readApi(`/v1/${path}`, query, options)) as Page;
      count += page.data.length;
      first ??= page.data[0];
      onPage(count, shareOf(order, first, page.data.at(-1)));
      if (page.data.length > 0) yield page.data.map((record) => `${JSON.stringify(record)}\n`).join('');
      cursor = page.pagination.next_cursor;
    } while (cursor !== null);
  }
  try {
    await pipeline(lines, createWriteStream(partial));
    await rename(partial, file);
  } finally {
    await rm(partial, { force: true });
  }
  return count;
}

/**
 * How much of a list lies before a record of it, from 0 to 1, by its place in the list's order: ids are spread evenly, and
 * records are taken to be made at an even rate. Undefined where that says nothing.
 */
export function shareOf(order: Resource['order'], first: Listed | undefined, last: Listed | undefined, now = Date.now()): number | undefined {
  if (order === 'id') return /^[0-9a-f]{8}-/.test(String(last?.id)) ? Number.parseInt(String(last?.id).slice(0, 8), 16) / 2 ** 32 : undefined;
  const [from, to] = [Date.parse(String(first?.created_at)), Date.parse(String(last?.created_at))];
  return from < to && to <= now ? (to - from) / (now - from) : undefined;
}
