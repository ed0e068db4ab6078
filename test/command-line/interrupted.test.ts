// How the packed program ends: on a terminal, by a signal, and when its output cannot be written. It needs no API.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { startIssuer, type StandInIssuer } from '../../packages/cli/test/issuer.ts';
import { unpack, type Program } from './program.ts';

const AWAY = 'http://127.0.0.1:1';

/** Runs a program on a terminal, presses Ctrl-C once it has said a text, and prints its exit code. */
const ON_A_TERMINAL = `
import os, pty, sys
pid, terminal = pty.fork()
if pid == 0:
    os.execv(sys.argv[2], sys.argv[2:])
said, pressed = b"", False
try:
    while True:
        said += os.read(terminal, 1024)
        if not pressed and sys.argv[1] and sys.argv[1].encode() in said:
            os.write(terminal, b"\\x03")
            pressed = True
except OSError:
    pass
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
`;

let program: Program;
let issuer: StandInIssuer;
beforeAll(async () => {
  program = unpack();
  issuer = await startIssuer(() => [400, { error: 'authorization_pending' }]);
});
afterAll(() => {
  issuer.close();
  program.remove();
});

const start = (args: string[], env: Record<string, string> = {}) =>
  spawn(process.execPath, [program.script, ...args], { cwd: program.folder, env: { HOME: program.folder, ...env } });

test.each<[string, string[], string, number]>([
  ['with Ctrl-C at a question', ['--url', AWAY], 'user token: ', 130],
  ['with Ctrl-C while it waits for the code', ['--device'], 'WDJB-MJHT', 130],
  ['by itself after an error', ['--device', '--url', AWAY], '', 3],
])('login ends on a terminal %s', async (_, args, until, code) => {
  const env = { ...process.env, XDG_CONFIG_HOME: program.folder, TRUCKROLL_URL: issuer.url };
  const terminal = spawn('python3', ['-c', ON_A_TERMINAL, until, process.execPath, program.script, 'login', ...args], { env });
  expect(Number(await text(terminal.stdout))).toBe(code);
});

test('login never prints a key that it read in place of the address', async () => {
  const { code, out, err } = await program.run(['login'], { input: 'trk_secret\n' });
  expect([code, out, err]).toEqual([2, '', expect.not.stringContaining('trk_')]);
});

test('mcp ends at the first SIGTERM', async () => {
  const child = start(['mcp'], { TRUCKROLL_URL: AWAY, TRUCKROLL_API_KEY: 'trk_1' });
  child.stdin.write('{"jsonrpc":"2.0","id":1,"method":"ping"}\n');
  await once(child.stdout, 'data');
  child.kill('SIGTERM');
  expect(await once(child, 'close')).toEqual([130, null]);
});

test('fails if its output cannot be written', () => {
  const full = openSync('/dev/full', 'w');
  const { status, stderr } = spawnSync(process.execPath, [program.script, 'completion', 'bash'], { stdio: ['ignore', full, 'pipe'], encoding: 'utf8' });
  closeSync(full);
  expect([status, stderr]).toEqual([3, expect.stringMatching(/^The output cannot be written \(ENOSPC\)/)]);
});
