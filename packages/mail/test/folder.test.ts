import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { folderProvider } from '../src/folder.ts';

const MESSAGE = { id: 'm-1', address: 'ana@example.com', subject: 'Hello', text: 'How are you?' };

let parent: string;
beforeAll(async () => void (parent = await mkdtemp(join(tmpdir(), 'truckroll-folder-'))));
afterAll(() => rm(parent, { recursive: true }));

test('writes each message to a file of a folder, which it makes', async () => {
  const folder = join(parent, 'outgoing', 'mails');
  const { outcome, detail } = await folderProvider(folder, 'EMAIL').send(MESSAGE);
  expect(outcome).toBe('SENT');
  expect((await readdir(folder)).map((name) => join(folder, name))).toEqual([detail]);
  expect(detail).toMatch(/ email m-1\.txt$/);
  expect(await readFile(detail, 'utf8')).toBe('To: ana@example.com\nSubject: Hello\nMessage-Id: m-1\n\nHow are you?\n');
});

test('fails a message that it cannot write, so that it is not tried for ever', async () => {
  const file = join(parent, 'file');
  await writeFile(file, '');
  expect(await folderProvider(file, 'EMAIL').send(MESSAGE)).toEqual({ outcome: 'FAILED', detail: expect.stringContaining('EEXIST') });
});
