// The command line as integrators have it: the packed file of this build, in an empty folder with an empty home.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

const GENERATED = join(import.meta.dirname, '../../gateway/clients/gen');

/** Every Node of the PATH that the program supports, the newest first. */
export const NODES = [
  process.execPath,
  ...new Set(
    (process.env['PATH'] ?? '')
      .split(delimiter)
      .map((folder) => join(folder, 'node'))
      .filter(existsSync)
      .map((path) => realpathSync(path)),
  ),
].filter((path, index, all) => all.findIndex((each) => versionOf(each) === versionOf(path)) === index && Number(versionOf(path).split('.')[0]) >= 20);

export function versionOf(node: string): string {
  return execFileSync(node, ['-p', 'process.versions.node'], { encoding: 'utf8' }).trim();
}

export interface Ran {
  code: number | null;
  out: string;
  err: string;
}

export interface Program {
  /** Its working folder, which is also its home. */
  readonly folder: string;
  readonly script: string;
  run(args: readonly string[], options?: { env?: Record<string, string>; node?: string; input?: string }): Promise<Ran>;
  remove(): void;
}

/** Unpacks the program of this build. Its environment is `env` and the home. */
export function unpack(env: Record<string, string> = {}): Program {
  const { version } = JSON.parse(readFileSync(join(GENERATED, 'index.json'), 'utf8')) as { version: string };
  const file = readdirSync(join(GENERATED, version)).find((name) => name.startsWith('truckroll-cli-')) as string;
  const place = mkdtempSync(join(tmpdir(), 'truckroll-command-line-'));
  execFileSync('tar', ['-xzf', join(GENERATED, version, file), '-C', place]);
  const script = join(place, 'package/dist/truckroll.js');
  const folder = mkdtempSync(join(place, 'home-'));
  return {
    folder,
    script,
    async run(args, { env: more = {}, node = process.execPath, input = '' } = {}) {
      const child = spawn(node, [script, ...args], { cwd: folder, env: { HOME: folder, ...env, ...more } });
      const said = { out: '', err: '' };
      child.stdout.setEncoding('utf8').on('data', (part: string) => (said.out += part));
      child.stderr.setEncoding('utf8').on('data', (part: string) => (said.err += part));
      child.stdin.on('error', () => undefined).end(input);
      const [code] = (await once(child, 'close')) as [number | null];
      return { code, ...said };
    },
    remove: () => rmSync(place, { recursive: true }),
  };
}
