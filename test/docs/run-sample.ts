import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pythonTools } from '../python/tools.ts';
import type { Target } from './target.ts';

const PROGRAMS: Record<string, [program: string, file: string]> = {
  bash: ['bash', 'sample.sh'],
  typescript: [process.execPath, 'sample.mts'],
  python: ['python3', 'sample.py'],
};

export interface Ran {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Runs in a new folder, or in `folder`, which is kept. Sets the variables that all samples read. */
export async function runSample(
  code: string,
  language: string,
  { url, key, token }: Target,
  { folder, args = [], onStart }: { folder?: string; args?: string[]; onStart?: (child: ChildProcess) => void } = {},
): Promise<Ran> {
  const [program, file] = PROGRAMS[language] ?? [];
  if (program === undefined || file === undefined) throw new Error(`nothing runs samples in ${language}`);
  const place = folder ?? mkdtempSync(join(tmpdir(), 'truckroll-sample-'));
  try {
    writeFileSync(join(place, file), code);
    installClient(place);
    installCommandLine(place);
    // Makes curl fail on an error status, as the other languages' samples do.
    writeFileSync(join(place, '.curlrc'), 'fail-with-body\nsilent\nshow-error\n');
    const env = {
      PATH: `${join(place, 'bin')}:${process.env['PATH']}`,
      PYTHONPATH: join(import.meta.dirname, '../../clients/python/src'),
      HOME: place,
      CURL_HOME: place,
      TRUCKROLL_URL: url,
      TRUCKROLL_API_KEY: key,
      TRUCKROLL_TOKEN: token,
    };
    // Other samples need no package.
    const used = language === 'python' && /^from truckroll /m.test(code) ? join(pythonTools(), 'python') : program;
    const child = spawn(used, [...(language === 'bash' ? ['-e'] : []), join(place, file), ...args], { cwd: place, env, stdio: ['ignore', 'pipe', 'pipe'] });
    onStart?.(child);
    const said = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const) child[name].setEncoding('utf8').on('data', (part: string) => (said[name] += part));
    const [exit] = (await once(child, 'close')) as [number | null];
    return { code: exit, ...said };
  } finally {
    if (folder === undefined) rmSync(place, { recursive: true });
  }
}

function installCommandLine(place: string): void {
  const main = join(import.meta.dirname, '../../packages/cli/src/main.ts');
  mkdirSync(join(place, 'bin'), { recursive: true });
  writeFileSync(join(place, 'bin/truckroll'), `#!/bin/sh\nexec "${process.execPath}" "${main}" "$@"\n`, { mode: 0o755 });
}

function installClient(place: string): void {
  const scope = join(place, 'node_modules/@truckroll');
  if (existsSync(scope)) return;
  mkdirSync(scope, { recursive: true });
  symlinkSync(join(import.meta.dirname, '../../packages/client'), join(scope, 'client'));
}
