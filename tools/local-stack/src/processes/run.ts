import { spawn } from 'node:child_process';

export interface RunOptions {
  readonly env?: NodeJS.ProcessEnv | undefined;
  readonly cwd?: string | undefined;
  readonly user?: { readonly uid: number; readonly gid: number } | undefined;
}

export interface RunResult {
  /** Null when the command could not be started or was killed. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a short command and collects its output. Never rejects: a missing command has code null. */
export function run(command: string, args: readonly string[], options: RunOptions = {}): Promise<RunResult> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], env: options.env ?? process.env, cwd: options.cwd, ...options.user });
    let stdout = '';
    let stderr = '';
    child.stdout?.setEncoding('utf8').on('data', (text: string) => (stdout += text));
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    child.once('error', (error) => resolve({ code: null, stdout, stderr: stderr || error.message }));
    child.once('close', (code) => resolve({ code, stdout, stderr }));
  });
}

export async function works(command: string, ...args: string[]): Promise<boolean> {
  return (await run(command, args)).code === 0;
}

/** Runs a command and shows its output to the user. Resolves when the command has ended, even if it failed. */
export function shown(command: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  return new Promise((resolve) => {
    // Standard output is reserved for results: see say.ts.
    spawn(command, args, { stdio: ['ignore', 2, 2], env })
      .once('error', () => resolve())
      .once('close', () => resolve());
  });
}
