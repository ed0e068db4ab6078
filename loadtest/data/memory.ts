// A database that has been running holds its hot pages in memory. One that was just started reads every page from disk first, and
// commits wait behind those reads.
import { createReadStream } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { say } from '@truckroll/local-stack';

/** Reads the files of the databases below the folder once, so that they are in the page cache. Does nothing if there are none. */
export async function readIntoMemory(folder: string): Promise<void> {
  const startedAt = performance.now();
  let bytes = 0;
  const files = await readdir(join(folder, 'postgres', 'base'), { recursive: true, withFileTypes: true }).catch(() => []);
  for (const file of files) {
    if (!file.isFile()) continue;
    for await (const chunk of createReadStream(join(file.parentPath, file.name), { highWaterMark: 2 ** 20 })) bytes += (chunk as Buffer).length;
  }
  say(`Read ${(bytes / 2 ** 30).toFixed(1)} GiB of data in ${((performance.now() - startedAt) / 1000).toFixed(1)} s, so that they are in memory.`);
}
