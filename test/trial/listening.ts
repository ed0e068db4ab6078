import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** Longest time until an event arrives. */
const LONGEST_MS = 60_000;

/** Starts `truckroll listen` for one event, and resolves when it listens. `ended` resolves to what it printed. */
export async function startListening(cwd: string, env: NodeJS.ProcessEnv): Promise<{ ended: Promise<string> }> {
  const child = spawn('truckroll', ['listen', '--json', '--count', '1'], { cwd, env, timeout: LONGEST_MS, stdio: ['ignore', 'pipe', 'pipe'] });
  let printed = '';
  let noted = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text));
  const closed = once(child, 'close');
  const listens = new Promise<void>((resolve) => {
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      noted += text;
      if (noted.includes('Listening')) resolve();
    });
  });
  await Promise.race([listens, closed]);
  if (!noted.includes('Listening')) throw new Error(`truckroll listen ended: ${noted}`);
  return {
    ended: closed.then(([code]) => {
      if (code !== 0) throw new Error(`truckroll listen ended with ${code}: ${printed}${noted}`);
      return printed;
    }),
  };
}
