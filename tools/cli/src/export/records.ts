import { join } from 'node:path';
import { resource } from '@truckroll/contract';
import { shareOf, type ListedRecord } from '../share.ts';
import { writeWhole } from '@truckroll/integrator-cli/copy/folder';
import { readApi, type ApiClientOptions } from './http.ts';

interface Page {
  data: ListedRecord[];
  pagination: { next_cursor: string | null };
}

/** Writes `<folder>/<path>.ndjson`, named so only when complete. Returns the number of records. Throws Failure or the file system's errors. */
export async function exportRecords(
  folder: string,
  path: string,
  options: ApiClientOptions,
  onPage: (count: number, share: number | undefined) => void,
): Promise<number> {
  let count = 0;
  let first: ListedRecord | undefined;
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
  await writeWhole(join(folder, `${path}.ndjson`), lines);
  return count;
}
