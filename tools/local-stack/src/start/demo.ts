import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { ROOT } from '../folder.ts';
import { Problem } from '../problem.ts';

/** How a person gets in. */
export interface DemoAccess {
  readonly apiKey: string;
  readonly userToken: string;
  readonly otherApiKey: string;
}

/** Has the command line make the demo companies unless they are there; it keeps their keys in the state folder. The signal ends it. */
export async function demoAccess(state: string, environment: NodeJS.ProcessEnv, signal: AbortSignal): Promise<DemoAccess> {
  const child = spawn(process.execPath, [join(ROOT, 'tools/cli/src/main.ts'), 'demo', '--ensure', '--json'], {
    // The command line looks for the state folder from here upwards.
    cwd: dirname(state),
    stdio: ['ignore', 'pipe', 'inherit'],
    env: environment,
    signal,
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  const code = await new Promise<number | null>((resolve) => child.once('error', () => resolve(null)).once('close', resolve));
  const access = parse(output);
  if (code !== 0 || !access) throw new Problem('The demo companies could not be made, for the reason above; npx truckroll demo tries again.');
  return access;
}

function parse(output: string): DemoAccess | undefined {
  try {
    const value = JSON.parse(output) as Partial<DemoAccess>;
    return value.apiKey && value.userToken && value.otherApiKey ? (value as DemoAccess) : undefined;
  } catch {
    return undefined;
  }
}
