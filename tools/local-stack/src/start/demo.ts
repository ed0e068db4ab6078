import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DEMO_COMPANIES_FILE, DEMO_KEY_FILE, accessTo, type DemoAccess, type NotedCompany } from '../demo-companies.ts';
import { readJson } from '../files.ts';
import { ROOT } from '../folder.ts';
import { Problem } from '../problem.ts';
import { read } from './readiness.ts';

/** Finds the demo companies, or creates what is missing with the command line, which keeps their keys in the state folder. */
export async function demoAccess(state: string, baseUrl: string, environment: NodeJS.ProcessEnv, signal: AbortSignal): Promise<DemoAccess> {
  const access = (await foundAgain(state, baseUrl)) ?? (await made(state, { ...environment, TRUCKROLL_URL: baseUrl }, signal));
  writeFileSync(join(state, DEMO_KEY_FILE), access.apiKey, { mode: 0o600 });
  return access;
}

/** Credentials of the existing companies, when both are fully imported and each key still opens its own company. */
async function foundAgain(state: string, baseUrl: string): Promise<DemoAccess | undefined> {
  const [first, second] = readJson<{ companies: (NotedCompany | undefined)[] }>(join(state, DEMO_COMPANIES_FILE))?.companies ?? [];
  if (first?.imported !== true || second?.imported !== true) return undefined;
  const opens = await Promise.all([first, second].map((company) => isOpenedByItsKey(company, baseUrl)));
  return opens.every(Boolean) ? await accessTo(state, first, second) : undefined;
}

async function isOpenedByItsKey({ companyId, apiKey }: NotedCompany, baseUrl: string): Promise<boolean> {
  const answer = await read(`${baseUrl}/v1/company`, { authorization: `Bearer ${apiKey}` });
  return answer?.status === 200 && (JSON.parse(answer.body) as { data?: { id?: string } }).data?.id === companyId;
}

async function made(state: string, environment: NodeJS.ProcessEnv, signal: AbortSignal): Promise<DemoAccess> {
  const child = spawn(process.execPath, [join(ROOT, 'tools/cli/src/main.ts'), 'demo', '--ensure', '--json'], {
    // The command line searches for the state folder from here upwards.
    cwd: dirname(state),
    stdio: ['ignore', 'pipe', 'inherit'],
    env: environment,
    signal,
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  const code = await new Promise<number | null>((resolve) => child.once('error', () => resolve(null)).once('close', resolve));
  const access = parse(output);
  if (code !== 0 || !access) throw new Problem('The demo companies could not be created, for the reason above: try again with npx truckroll demo.');
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
