import { run } from '../../../tools/cli/src/run.ts';

/** Throws what the command says if it fails. */
export async function truckroll(args: readonly string[], env: Readonly<Record<string, string>>, cwd: string): Promise<void> {
  let stderr = '';
  const code = await run([...args], {
    env,
    cwd,
    stdout: { write: () => true },
    stderr: { write: (text: string) => (stderr += text) },
    signal: new AbortController().signal,
  });
  if (code !== 0) throw new Error(`truckroll ${args.join(' ')} ended with ${code}: ${stderr}`);
}
