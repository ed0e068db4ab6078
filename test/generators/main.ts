// npm run check:generators: compiles clients that popular generators make from the description, and runs them. The system is that
// of npm start, or the one in TRUCKROLL_URL and TRUCKROLL_API_KEY.
import { execFile } from 'node:child_process';
import { parseArgs, promisify } from 'node:util';
import { Problem, ROOT, runMain, say } from '@truckroll/local-stack';
import { ask, readTarget, type Target } from '../docs/target.ts';
import { emptyFolder, generators } from './generators.ts';

const HELP = `npm run check:generators -- [--only NAME]

Generates a client of the API by each of
  ${generators.map(({ name }) => name).join('\n  ')}
compiles it with a program that uses it, and runs that on the system that npm start began. Needs Python 3, Java 17, Maven and Go. What is
installed stays in the user's cache, what is made in .truckroll/generators. Minutes the first time.
`;
const { values } = parseArgs({ options: { only: { type: 'string', default: '' }, help: { type: 'boolean', default: false } } });

await runMain(async () => {
  if (values.help) {
    process.stdout.write(HELP);
    return 0;
  }
  const asked = generators.filter(({ name }) => name.includes(values.only));
  if (asked.length === 0) throw new Problem(`There is no generator ${values.only}. ${HELP}`);
  const target = readTarget(ROOT);
  const expected = JSON.stringify(await expectedOf(target));
  let failed = 0;
  for (const generator of asked) {
    const startedAt = performance.now();
    try {
      const cwd = emptyFolder(generator);
      const [command, ...args] = generator.prepare(cwd);
      const env = { ...process.env, TRUCKROLL_URL: target.url, TRUCKROLL_API_KEY: target.key };
      const { stdout, stderr } = await promisify(execFile)(command, args, { cwd, env });
      if (stdout.trim() !== expected) throw new Problem(`its client printed ${stdout.trim()} instead of ${expected}\n${stderr}`);
      say(`${generator.name}: generates, compiles and calls, in ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
    } catch (error) {
      failed += 1;
      say(`FAILED: ${generator.name}: ${(error as Error).message}`);
    }
  }
  say(`${asked.length - failed} of ${asked.length} generators make a client that compiles and calls the system`);
  return failed === 0 ? 0 : 1;
});

/** The expected output: company name, first invoice's number and open cents, the error for a missing invoice, and an event type. */
async function expectedOf(target: Target): Promise<unknown[]> {
  const company = await ask(target, 'GET', '/v1/company');
  const [invoice] = await ask(target, 'GET', '/v1/invoices?limit=2&status=OPEN&status=PAID');
  if (invoice === undefined) throw new Problem('The company has no invoice to read: use one of those that npm start makes.');
  return [company.name, invoice.number, invoice.amounts.open_balance_cents, 'NOT_FOUND', 'webhook.test'];
}
