import { hash } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** How the folder differs from the list (in sha256sum's format), or undefined when it holds exactly the listed files. */
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
  const digests = await Promise.all(present.map(async (name) => (pinned.has(name) ? hash('sha256', await readFile(join(folder, name))) : '')));
  for (const [index, name] of present.entries()) {
    const expected = pinned.get(name);
    if (expected === undefined) return `${name} does not belong there`;
    if (digests[index] !== expected) return `${name} has the SHA-256 ${digests[index]} instead of ${expected}`;
  }
  return undefined;
}
