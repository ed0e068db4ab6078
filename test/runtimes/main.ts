// npm run check:runtimes: runs the client that the gateway serves on every runtime that it is for. The system is that of npm start, or the
// one in TRUCKROLL_URL, TRUCKROLL_API_KEY and TRUCKROLL_TOKEN.
import { randomBytes } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Webhook } from 'standardwebhooks';
import { Problem, ROOT, STATE, runMain, say } from '@truckroll/local-stack';
import { answerOf, ask, readTarget, type Target } from '../docs/target.ts';
import { run } from '../support/installed.ts';
import { runtimes, type Task } from './runtimes.ts';

const HELP = `npm run check:runtimes -- [--only NAME]

Installs the client from /clients/index.json in an empty folder, and runs one program with it on each of
  ${runtimes.map(({ name }) => name).join('\n  ')}
The runtimes come from npm, and stay in the user's cache. About a minute the first time.
`;
const { values } = parseArgs({ options: { only: { type: 'string', default: '' }, help: { type: 'boolean', default: false } } });

await runMain(async () => {
  if (values.help) {
    process.stdout.write(HELP);
    return 0;
  }
  const asked = runtimes.filter(({ name }) => name.toLowerCase().includes(values.only.toLowerCase()));
  if (asked.length === 0) throw new Problem(`There is no runtime ${values.only}. ${HELP}`);
  const target = readTarget(ROOT);
  const [expected, file] = await Promise.all([expectedOf(target), clientOf(target)]);
  let failed = 0;
  for (const runtime of asked) {
    const folder = join(STATE, 'runtimes', runtime.name.replaceAll(' ', '-'));
    try {
      rmSync(folder, { recursive: true, force: true });
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, 'package.json'), '{"type":"module","private":true}');
      run(folder, 'npm', 'install', '--no-audit', '--no-fund', file);
      const printed = (await runtime.run(folder, taskOf(target))).trim();
      if (printed !== expected) throw new Problem(`printed ${printed} instead of ${expected}`);
      say(`${runtime.name}: reads, pages, follows changes and verifies a webhook`);
    } catch (error) {
      failed += 1;
      say(`FAILED: ${runtime.name}: ${(error as Error).message}`);
    }
  }
  say(`${asked.length - failed} of ${asked.length} runtimes run the client`);
  return failed === 0 ? 0 : 1;
});

/** The address of the client's package. */
async function clientOf({ url }: Target): Promise<string> {
  const { clients } = (await (await fetch(`${url}/clients/index.json`)).json()) as { clients: { name: string; file: string }[] };
  const found = clients.find(({ name }) => name === '@truckroll/client');
  if (found === undefined) throw new Problem(`${url}/clients/index.json names no package of the client`);
  return `${url}/clients/${found.file}`;
}

function taskOf({ url: baseUrl, key: token }: Target): Task {
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  const body = JSON.stringify({ type: 'webhook.test', timestamp: new Date().toISOString(), data: {} });
  const [id, at] = ['msg_1', new Date()];
  const headers = {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new Webhook(secret).sign(id, at, body),
  };
  return { baseUrl, token, secret, headers, body };
}

/** What program.mjs must print, by requests that this file makes itself. */
async function expectedOf(target: Target): Promise<string> {
  const company = await ask(target, 'GET', '/v1/company');
  const all = async (path: string): Promise<any[]> => {
    const records = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const { data, pagination } = await answerOf(target, 'GET', `${path}&limit=100${cursor && `&cursor=${encodeURIComponent(cursor)}`}`);
      records.push(...data);
      cursor = pagination.next_cursor;
    }
    return records;
  };
  const [invoices, payments] = [await all('/v1/invoices?status=OPEN'), await all('/v1/payments?')];
  const last = invoices.at(-1)?.number;
  return JSON.stringify([company.name, invoices.length, last, 'TruckrollError', 'NOT_FOUND', 'stopped', payments.length, 'webhook.test', 'VerificationError']);
}
