import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApiSession, baseUrlOf } from '../src/session.ts';

const HERE = 'https://api.example.com';
const ELSEWHERE = 'https://test.example.com';
const folder = mkdtempSync(join(tmpdir(), 'truckroll-session-'));
mkdirSync(join(folder, 'truckroll'));
writeFileSync(join(folder, 'empty'), ' \n');
const profiles = { default: { url: HERE, credential: 'a-token' }, work: { url: HERE, credential: 'trk_work' } };
writeFileSync(join(folder, 'truckroll/profiles.json'), JSON.stringify(profiles), { mode: 0o600 });
afterAll(() => rmSync(folder, { recursive: true }));

function sessionOf(env: Record<string, string>, chosen: { profile?: string; url?: string } = {}): ApiSession {
  const none = { write: () => undefined };
  const io = { cwd: '.', stdin: process.stdin, stdout: none, stderr: none, signal: new AbortController().signal };
  const session = new ApiSession({ ...io, env: { XDG_CONFIG_HOME: folder, ...env } });
  session.choose(chosen);
  return session;
}

test('compares the address of a named profile with --url alone', () => {
  expect(sessionOf({ TRUCKROLL_URL: ELSEWHERE }, { profile: 'work' }).access().baseUrl).toBe(HERE);
  expect(() => sessionOf({}, { profile: 'work', url: ELSEWHERE }).access()).toThrow(/The profile work is for/);
  expect(() => sessionOf({ TRUCKROLL_URL: ELSEWHERE }).access()).toThrow(/The profile default is for/);
});

test('takes the user token of the default profile where the variables have a key for the same address', () => {
  const asked = (env: Record<string, string>, chosen = {}): string => {
    const session = sessionOf({ TRUCKROLL_API_KEY: 'trk_1', ...env }, chosen);
    session.userClient();
    return session.asked.source;
  };
  expect(asked({ TRUCKROLL_URL: HERE })).toBe('profile default');
  expect(asked({ TRUCKROLL_URL: HERE, TRUCKROLL_TOKEN: 'other' })).toBe('TRUCKROLL_TOKEN');
  expect(() => asked({ TRUCKROLL_URL: ELSEWHERE })).toThrow(`TRUCKROLL_API_KEY has one. It needs a user token: put one for ${ELSEWHERE} into TRUCKROLL_TOKEN`);
  expect(() => asked({}, { profile: 'work' })).toThrow('profile work has one. It needs a user token: log in with one, by `truckroll login --profile work`.');
});

test('refuses an empty file, and takes an empty variable for none', () => {
  const empty = join(folder, 'empty');
  expect(() => sessionOf({ TRUCKROLL_URL: HERE, TRUCKROLL_API_KEY_FILE: empty }).access()).toThrow(`TRUCKROLL_API_KEY_FILE names ${empty}, which is empty`);
  expect(sessionOf({ TRUCKROLL_URL: '', TRUCKROLL_API_KEY: '', TRUCKROLL_API_KEY_FILE: '' }).access().source).toBe('profile default');
});

test('does not repeat what is no address, because it may be a key', () => {
  expect(() => baseUrlOf('trk_secret')).toThrow(/^(?!.*trk_).*must begin with http/);
});
