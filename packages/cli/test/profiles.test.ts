import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { changeProfiles, readProfiles } from '../src/profiles.ts';

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'truckroll-profiles-'));
  mkdirSync(join(folder, 'truckroll'));
  file = join(folder, 'truckroll/profiles.json');
});
afterEach(() => rmSync(folder, { recursive: true }));

const own = { url: 'https://api.example.com', credential: 'trk_1' };
const environment = (): Record<string, string> => ({ XDG_CONFIG_HOME: folder });
const write = (profiles: unknown): void => writeFileSync(file, JSON.stringify(profiles), { mode: 0o600 });

test('keeps what another program changes at the same time', async () => {
  writeFileSync(`${file}.partial`, '');
  const changed = changeProfiles(environment(), (profiles) => ({ ...profiles, second: own }));
  write({ first: own });
  rmSync(`${file}.partial`);
  await changed;
  expect({ ...readProfiles(environment()) }).toEqual({ first: own, second: own });
});

test('has only profiles that were made', () => {
  expect(readProfiles(environment())['constructor']).toBeUndefined();
  write({ first: own });
  expect(readProfiles(environment())['constructor']).toBeUndefined();
});

test.each([null, [], 'text', { first: null }, { first: { url: 'https://api.example.com' } }])('says that %j holds no profiles', (content) => {
  write(content);
  expect(() => readProfiles(environment())).toThrow(/profiles\.json is not what `truckroll login` writes: delete it/);
});
