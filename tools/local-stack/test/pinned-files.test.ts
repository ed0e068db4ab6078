import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { kafkaJars } from '../src/servers/kafka-jars.ts';
import { differenceFrom } from '../src/servers/pinned-files.ts';
import { silent } from '../src/say.ts';
import { Scratch } from './support.ts';

const scratch = new Scratch();
afterAll(() => scratch.end());

test('accepts a folder only with exactly the pinned files', async () => {
  const folder = join(scratch.folder(), 'jars');
  const list = join(scratch.folder(), 'list');
  mkdirSync(folder);
  writeFileSync(join(folder, 'a.jar'), 'first');
  writeFileSync(list, `${createHash('sha256').update('first').digest('hex')}  a.jar\n`);
  expect(await differenceFrom(list, folder)).toBeUndefined();
  writeFileSync(join(folder, 'b.jar'), 'a stranger on the class path');
  expect(await differenceFrom(list, folder)).toBe('b.jar does not belong there');
  writeFileSync(join(folder, 'a.jar'), 'changed');
  expect(await differenceFrom(list, folder)).toMatch(/^a\.jar has the SHA-256 [0-9a-f]{64} instead of/);
});

test('refuses to run Kafka from modified jars, in a sentence that says what to do', async () => {
  const cache = scratch.folder();
  const former = process.env['XDG_CACHE_HOME'];
  process.env['XDG_CACHE_HOME'] = cache;
  try {
    mkdirSync(join(cache, 'truckroll/kafka-4.1.1'), { recursive: true });
    writeFileSync(join(cache, 'truckroll/kafka-4.1.1/evil.jar'), 'x');
    await expect(kafkaJars(silent)).rejects.toThrow(/not the jars of Kafka 4\.1\.1 .* Nothing of it was run: delete .* and start again/);
  } finally {
    if (former === undefined) delete process.env['XDG_CACHE_HOME'];
    else process.env['XDG_CACHE_HOME'] = former;
  }
});
