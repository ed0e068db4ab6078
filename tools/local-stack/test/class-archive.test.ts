import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { classArchive } from '../src/servers/class-archive.ts';
import { Scratch } from './support.ts';

const scratch = new Scratch();
afterAll(() => scratch.end());

const WHOLE = Buffer.from('a80bbaf00b000000', 'hex');

test('Java writes its class archive when the program first ends, and uses a complete archive', () => {
  const folder = scratch.folder();
  const [writes] = classArchive(folder, '17.0.15');
  const fresh = writes!.replace('-XX:ArchiveClassesAtExit=', '');
  expect(fresh).toBe(join(folder, 'classes-17.0.15.jsa.new'));

  writeFileSync(fresh, Buffer.alloc(WHOLE.length));
  expect(classArchive(folder, '17.0.15')).toEqual([writes]);
  expect(existsSync(fresh)).toBe(false);

  writeFileSync(fresh, WHOLE);
  const archive = join(folder, 'classes-17.0.15.jsa');
  expect(classArchive(folder, '17.0.15')).toEqual([`-XX:SharedArchiveFile=${archive}`]);
  expect(readFileSync(archive)).toEqual(WHOLE);
});

test('deletes the class archives of another Java, and nothing else in the folder', () => {
  const folder = scratch.folder();
  mkdirSync(join(folder, 'data'));
  writeFileSync(join(folder, 'classes-17.0.14.jsa'), WHOLE);
  expect(classArchive(folder, '17.0.15')).toEqual([`-XX:ArchiveClassesAtExit=${join(folder, 'classes-17.0.15.jsa.new')}`]);
  expect(readdirSync(folder)).toEqual(['data']);
});
