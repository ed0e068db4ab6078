import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { COMMANDS } from '../src/command-list.ts';
import { run } from '../src/run.ts';
import { wholeProgram } from './program.ts';

const source = join(import.meta.dirname, '../src');

async function outcomeOf(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  let [out, err] = ['', ''];
  const io = {
    env: {},
    cwd: '/',
    stdout: { write: (text: string) => (out += text) },
    stderr: { write: (text: string) => (err += text) },
    signal: new AbortController().signal,
  };
  return { code: await run(args, io), out, err };
}

test('lists every command as it describes itself', async () => {
  const program = await wholeProgram();
  const help = program.createHelp();
  const said = help
    .visibleCommands(program)
    .filter((command) => command.name() !== 'help')
    .map((command) => [command.name(), { usage: help.subcommandTerm(command), description: command.description() }]);
  expect(Object.fromEntries(said)).toEqual(COMMANDS);
  const shown = (await outcomeOf('--help')).out;
  for (const { usage, description } of Object.values(COMMANDS)) {
    expect(shown).toContain(`  ${usage}`);
    expect(shown.replace(/\s+/g, ' ')).toContain(description.replace(/\s+/g, ' '));
  }
});

test('loads no command, and only the list of components of the contract, for help and version', () => {
  const program = `
    import { registerHooks } from 'node:module';
    const loaded = [];
    registerHooks({ load: (url, context, next) => { loaded.push(url); return next(url, context); } });
    process.argv.splice(2, 0, '--help');
    await import(${JSON.stringify(join(source, 'main.ts'))});
    console.error(JSON.stringify(loaded));`;
  const { stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' });
  const own = (JSON.parse(stderr.trim().split('\n').at(-1)!) as string[]).filter((url) => url.startsWith('file:') && !url.includes('node_modules'));
  expect(own.map((url) => url.split(/\/(?:tools|packages)\//).at(-1)).toSorted()).toEqual([
    'cli/src/command-list.ts',
    'cli/src/main.ts',
    'cli/src/run.ts',
    'cli/src/terminal/failure.ts',
    'cli/src/terminal/printable.ts',
    'contract/src/components.ts',
  ]);
});

test('accepts the previous release’s name of a command', async () => {
  expect((await outcomeOf('parked', '--help')).out).toContain('truckroll dead-letters list');
});

test('shows the version of the release', async () => {
  const { version } = JSON.parse(readFileSync(join(source, '../../../package.json'), 'utf8')) as { version: string };
  expect(await outcomeOf('--version')).toEqual({ code: 0, out: `${version}\n`, err: '' });
});

test('reports wrong usage in JSON to scripts, in words to people, and by the exit code to both', async () => {
  expect(await outcomeOf('export', './books', '--url', 'nowhere')).toMatchObject({
    code: 2,
    err: expect.stringMatching(/^The address of the API must begin with/),
  });
  for (const [args, message, code] of [
    [['export', './books', '--url', 'nowhere', '--json'], /^The address of the API must begin with/, 2],
    [['--json', 'exprot'], /unknown command 'exprot'.*Did you mean export/s, 2],
    [['key', 'create', '--json'], /required option '--company <id>' not specified/, 2],
    [['export', './books', '--key', 'trk_x', '--url', 'http://127.0.0.1:1', '--json'], /does not answer/, 3],
  ] as const) {
    const { code: ended, err } = await outcomeOf(...args);
    const said = err
      .trim()
      .split('\n')
      .map((line) => (line.startsWith('{') ? JSON.parse(line) : line))
      .at(-1);
    expect([args, ended, said]).toEqual([args, code, { error: { message: expect.stringMatching(message), exit_code: code } }]);
  }
});
