import { setTimeout as delay } from 'node:timers/promises';
import { generateApiKey } from '@truckroll/contract';
import type { Command } from 'commander';
import { durationOption } from '../arguments.ts';
import { EXIT } from '@truckroll/integrator-cli/terminal/failure';
import type { Session } from '../session.ts';

const HELP = `
Requests /readyz and /openapi.json, and /v1/company once without a key and once with an invented key. The gateway checks the
invented key with integrations and its database, so a 401 shows that they work. Nothing is stored.

Examples:
  truckroll probe --url https://api.example.com
  truckroll probe --wait 1m --json`;

const PAUSE_MS = 1000;
const ANSWER_MS = 10_000;

interface Check {
  readonly path: string;
  readonly status: number;
  readonly key?: string;
}

export function register(program: Command, session: Session): void {
  program
    .command('probe')
    .description('Check from outside whether an installation works.')
    .option('--url <url>', 'address of the API')
    .addOption(durationOption('--wait <duration>', 'how long to repeat failed checks', '0s'))
    .addHelpText('after', HELP)
    .action(async (options: { url?: string; wait: number }) => {
      const url = session.baseUrl(options.url);
      const until = performance.now() + options.wait * 1000;
      const checks: Check[] = [
        { path: '/readyz', status: 200 },
        { path: '/openapi.json', status: 200 },
        { path: '/v1/company', status: 401 },
        { path: '/v1/company', status: 401, key: generateApiKey() },
      ];
      let faults = await faultsOf(url, checks);
      while (faults.length > 0 && performance.now() < until && !session.io.signal.aborted) {
        await delay(PAUSE_MS);
        faults = await faultsOf(url, checks);
      }
      if (faults.length > 0) session.exitCode = EXIT.unreachable;
      session.print({ url, serves: faults.length === 0, faults }, faults.length === 0 ? `${url} serves` : faults.join('\n'));
    });
}

async function faultsOf(url: string, checks: readonly Check[]): Promise<string[]> {
  const results = await Promise.all(
    checks.map(async ({ path, status, key }) => {
      const what = `GET ${path} ${key === undefined ? 'without a key' : 'with an invented key'}`;
      try {
        const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
        const answer = await fetch(`${url}${path}`, { headers, redirect: 'manual', signal: AbortSignal.timeout(ANSWER_MS) });
        await answer.body?.cancel();
        return answer.status === status ? [] : [`${what} was answered with ${answer.status}, not ${status}`];
      } catch (error) {
        return [`${what} was not answered: ${String((error as Error).cause ?? error)}`];
      }
    }),
  );
  return results.flat();
}
