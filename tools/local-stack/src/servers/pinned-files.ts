import { createHash } from 'node:crypto';
import { createReadStream, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';

/** Why the folder does not hold exactly the files of the list, or undefined where it does. The list is sha256sum's. */
export async function differenceFrom(list: string, folder: string): Promise<string | undefined> {
  const pinned = new Map(
    readFileSync(list, 'utf8')
      .trim()
      .split('\n')
      .map((line) => [line.slice(66), line.slice(0, 64)] as const),
  );
  const present = readdirSync(folder);
  const missing = [...pinned.keys()].find((name) => !present.includes(name));
  if (missing !== undefined) return `${missing} is missing`;
  for (const name of present) {
    const expected = pinned.get(name);
    if (expected === undefined) return `${name} does not belong there`;
    const digest = createHash('sha256');
    await pipeline(createReadStream(join(folder, name)), digest);
    const found = digest.digest('hex');
    if (found !== expected) return `${name} has the SHA-256 ${found} instead of ${expected}`;
  }
  return undefined;
}
