// Help and completion of the integrators' command line, which need no API.
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { COMMANDS } from '../../packages/cli/src/command-list.ts';
import { unpack, type Program } from './program.ts';

let program: Program;
beforeAll(() => void (program = unpack()));
afterAll(() => program.remove());

test.each(Object.entries(COMMANDS))('shows the help of %s, as the list of commands has it', async (name, { description }) => {
  const { code, out } = await program.run([name, '--help']);
  const said = out.replace(/\s+/g, ' ');
  expect([code, said]).toEqual([0, expect.stringContaining(description)]);
  expect(said).toMatch(new RegExp(`Usage: truckroll ${name} \\[options\\]`));
  expect(readFileSync(join(import.meta.dirname, '../../docs/how-to/command-line.md'), 'utf8')).toContain(`truckroll ${name}`);
  expect((await program.run(['--help'])).out.replace(/\s+/g, ' ')).toContain(description);
  expect(readFileSync(join(import.meta.dirname, '../../packages/cli/README.md'), 'utf8')).toContain(`\`truckroll ${name}`.replace(/logout|profiles/, 'login'));
});

test.each([
  [['li'], ['list', 'listen']],
  [['list', 'invoice'], ['invoices']],
  [
    ['list', 'invoices', '--due'],
    ['--due-from', '--due-before'],
  ],
  [['list', 'invoices', '--status', 'O'], ['OPEN']],
  [
    ['list', 'invoices', '--status', 'OPEN', ''],
    ['DRAFT', 'OPEN', 'PAID', 'VOIDED', 'UNCOLLECTABLE'],
  ],
  [['list', 'invoices', '--due-from', ''], []],
  [['--profile', 'test', 'webhooks', 're'], ['resume']],
  [
    ['completion', ''],
    ['bash', 'zsh', 'fish'],
  ],
])('completes %j', async (words, expected) => {
  const { code, out } = await program.run(['complete', '--', ...words]);
  expect([code, out.split('\n').filter(Boolean)]).toEqual([0, expected]);
});

test('completes in bash', async () => {
  const { out } = await program.run(['completion', 'bash']);
  // Stands in for the command that npm installs.
  writeFileSync(join(program.folder, 'truckroll'), `#!/bin/sh\nexec "${process.execPath}" "${program.script}" "$@"\n`);
  chmodSync(join(program.folder, 'truckroll'), 0o755);
  const script = `${out}\nCOMP_WORDS=(truckroll list invoices --status O) COMP_CWORD=4\n_truckroll\nprintf '%s\\n' "\${COMPREPLY[@]}"`;
  const env = { PATH: `${program.folder}:/usr/bin:/bin`, HOME: program.folder };
  expect(execFileSync('bash', ['--norc', '-c', script], { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })).toBe('OPEN\n');
});

test.each(['zsh', 'fish'])('prints a script that %s accepts, where it is installed', async (shell) => {
  const { code, out } = await program.run(['completion', shell]);
  expect([code, out]).toEqual([0, expect.stringContaining('truckroll complete -- ')]);
  if (spawnSync(shell, ['--version']).status !== 0) return;
  expect(spawnSync(shell, ['--no-execute'], { input: out, encoding: 'utf8' })).toMatchObject({ status: 0, stderr: '' });
});
