// A copy of the checkout, modified by a script to act as a later release. Its programs run next to those of the checkout.
import { execFile, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';

const ROOT = join(import.meta.dirname, '../..');
/** Not copied. The copy has the tracked files, generated code and links between packages. */
const LEFT_OUT = ['.git', '.truckroll', 'coverage'];
const LOG_TAIL = 4000;

export interface Program {
  /** Resolves to the first match in the log, including earlier lines. Rejects with the log when the program ends without one. */
  line(pattern: RegExp): Promise<RegExpExecArray>;
  stop(): Promise<void>;
}

export class Tree {
  readonly folder: string;

  constructor() {
    this.folder = mkdtempSync(join(tmpdir(), 'truckroll-rollout-'));
    const own = (source: string): boolean => !LEFT_OUT.includes(basename(source)) && source !== join(ROOT, 'node_modules');
    cpSync(ROOT, this.folder, { recursive: true, verbatimSymlinks: true, filter: own });
    // Third-party packages are shared with the checkout; workspace packages find each other through links in their own folders.
    symlinkSync(join(ROOT, 'node_modules'), join(this.folder, 'node_modules'));
  }

  /** Replaces a text. Throws unless it occurs exactly once, because then the change no longer fits. */
  replace(path: string, text: string, by: string): void {
    const file = join(this.folder, path);
    const before = readFileSync(file, 'utf8');
    if (before.split(text).length !== 2) throw new Error(`${path} does not have exactly once: ${text}`);
    writeFileSync(
      file,
      before.replace(text, () => by),
    );
  }

  write(path: string, text: string): void {
    writeFileSync(join(this.folder, path), text);
  }

  generate(): void {
    const { status, stderr } = spawnSync(process.execPath, ['scripts/generate.mjs'], { cwd: this.folder, encoding: 'utf8' });
    if (status !== 0) throw new Error(`the changed contract does not generate: ${stderr}`);
  }

  run(main: string, environment: Readonly<Record<string, string>>): Program {
    const env = { PATH: process.env['PATH'], HOST: '127.0.0.1', METRICS_PORT: '0', PORT: '0', LOG_LEVEL: 'info', ...environment };
    const child = spawn(process.execPath, [join(this.folder, main)], { cwd: this.folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
    return programOf(main, child);
  }

  /** Runs a program to its end with only the given environment. Rejects with its output unless it exits with 0. */
  async finish(main: string, args: readonly string[], environment: Readonly<Record<string, string>>): Promise<string> {
    const env = { PATH: process.env['PATH'], ...environment };
    const { stdout } = await promisify(execFile)(process.execPath, [join(this.folder, main), ...args], { cwd: this.folder, env });
    return stdout;
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

function programOf(name: string, child: ChildProcess): Program {
  let log = '';
  let ended = false;
  const listeners = new Set<() => void>();
  const changed = (): void => {
    for (const listener of listeners) listener();
  };
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      log += text;
      changed();
    });
  }
  const exited = new Promise<void>((resolve) => child.once('close', () => resolve(((ended = true), changed()))));
  return {
    line: (pattern) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const match = pattern.exec(log);
          if (match === null && !ended) return;
          listeners.delete(look);
          if (match !== null) resolve(match);
          else reject(new Error(`${name} ended: ${log.slice(-LOG_TAIL)}`));
        };
        listeners.add(look);
        look();
      }),
    async stop() {
      if (!ended) child.kill('SIGTERM');
      await exited;
    },
  };
}
