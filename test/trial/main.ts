// npm run trial:integrator: does what a new integrator does, in an empty home, with the commands that the documentation of the running system
// shows. The system is that of npm start. Ends with 1 at the first step that does not do what the documentation says.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { readTarget } from '../docs/target.ts';
import { startListening } from './listening.ts';

const root = join(import.meta.dirname, '../..');
const target = readTarget(root);
const home = mkdtempSync(join(tmpdir(), 'truckroll-trial-'));
/** Nothing of the developer's own: no profile, no npm settings, no installed command. */
const environment: NodeJS.ProcessEnv = {
  HOME: home,
  PATH: `${join(home, 'bin')}:${process.env['PATH']}`,
  npm_config_prefix: home,
  npm_config_cache: join(home, 'npm-cache'),
  TRUCKROLL_URL: target.url,
};
const pages = new Map<string, string>();

/** A line of a page as its reader copies it. Throws if the page no longer has it. */
async function documented(page: string, begins: string): Promise<string> {
  if (!pages.has(page)) pages.set(page, await (await fetch(`${target.url}${page}.md`)).text());
  const line = pages
    .get(page)!
    .split('\n')
    .find((each) => each.startsWith(begins));
  if (line === undefined) throw new Error(`${page} has no line that begins with: ${begins}`);
  return line;
}

function run(command: string, more: NodeJS.ProcessEnv = {}): string {
  const { status, stdout, stderr } = spawnSync('bash', ['-e', '-o', 'pipefail', '-c', command], {
    cwd: home,
    env: { ...environment, ...more },
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`${command}\nended with ${status}:\n${stdout}${stderr}`);
  return stdout;
}

/** A command of the operator, who works in the checkout. Returns what it prints as JSON. */
function operate(...args: string[]): any {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, 'scripts/run.mjs'), 'truckroll', ...args, '--json'], {
    cwd: root,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`truckroll ${args.join(' ')}\nended with ${status}:\n${stdout}${stderr}`);
  return JSON.parse(stdout);
}

function expect(holds: boolean, what: string, output: string): void {
  if (!holds) throw new Error(`${what}, but the output is:\n${output.slice(0, 2000)}`);
}

const LOGIN = 'printenv TRUCKROLL_API_KEY | truckroll login --profile work';
const invoices = 'truckroll list invoices --status OPEN';
const SUMMARY = `Trial ${new Date().toISOString()}`;
let endpoint = '';
let company = '';

const steps: [string, () => Promise<void> | void][] = [
  [
    'installs the command line from the gateway',
    async () => {
      run(await documented('/docs', 'npm install -g'));
      const version = run('truckroll --version').trim();
      expect(/^\d+\.\d+\.\d+/.test(version), 'truckroll says its version', version);
      const path = run('command -v truckroll').trim();
      expect(path === join(home, 'bin/truckroll'), 'the command is the one just installed', path);
    },
  ],
  [
    'logs in with the key, and with a user token',
    async () => {
      run(await documented('/docs/command-line', LOGIN), { TRUCKROLL_API_KEY: target.key });
      run('printenv TRUCKROLL_TOKEN | truckroll login', { TRUCKROLL_TOKEN: target.token });
      delete environment['TRUCKROLL_URL'];
      company = JSON.parse(run('truckroll get company --json')).id;
    },
  ],
  [
    'searches a customer',
    async () => {
      const { name } = JSON.parse(run('truckroll list accounts --limit 1 --json --fields name')) as { name: string };
      const search = await documented('/docs/command-line', 'truckroll search nunez');
      const found = run(search.replace('nunez', `'${name.replaceAll("'", "'\\''")}'`));
      expect(/^accounts +[0-9a-f-]{36} /m.test(found), `the search finds ${name}`, found);
    },
  ],
  [
    'lists unpaid invoices as a table',
    async () => {
      const listed = run(`${await documented('/docs/command-line', invoices)} --profile work`);
      expect(/^id +number +status .*open_balance$/m.test(listed) && /^[0-9a-f-]{36} .*OPEN .*\.\d\d$/m.test(listed), 'a table lists open invoices', listed);
    },
  ],
  [
    'creates an endpoint',
    async () => {
      const create = await documented('/docs/command-line', 'id=$(truckroll webhooks create');
      endpoint = run(`${create}\necho "$id"`).trim();
      expect(/^[0-9a-f-]{36}$/.test(endpoint), 'the endpoint has an id', endpoint);
      expect(run('truckroll webhooks list').includes(endpoint), 'it is listed', endpoint);
    },
  ],
  [
    'sees an event arrive',
    async () => {
      const listening = await startListening(home, environment);
      operate('intake', 'request', '--company', company, '--channel', 'phone', '--summary', SUMMARY);
      const arrived = await listening.ended;
      expect(arrived.includes(SUMMARY), 'the event arrives', arrived);
    },
  ],
  [
    'finds its request in the log',
    async () => {
      const listed = run(`${await documented('/docs/command-line', 'truckroll requests --limit')} --profile work`);
      expect(/\/v1\/invoices .*\b200\b|\b200\b.*\/v1\/invoices/.test(listed), 'the list of requests has that of the invoices', listed);
    },
  ],
  [
    'keeps a copy that equals the API, and reads it by SQL',
    async () => {
      const synced = run(await documented('/docs/command-line', 'truckroll sync copy.db'));
      expect(synced.includes('They are equal.'), 'the copy equals the API', synced);
      const sql = /"(select .*)"$/.exec(await documented('/docs/sync', 'sqlite3 copy.db'))![1]!;
      const rows = new DatabaseSync(join(home, 'copy.db'), { readOnly: true }).prepare(sql).all();
      expect(rows.length > 0, `${sql} has rows`, JSON.stringify(rows.slice(0, 3)));
    },
  ],
  [
    'leaves: the operator deletes a sandbox, whose key then opens nothing',
    () => {
      const made = operate('company', 'create', '--sandbox', '--size', '5', '--name', SUMMARY, '--timezone', 'America/Chicago');
      const own = { TRUCKROLL_URL: target.url, TRUCKROLL_API_KEY: made.api_key };
      const { id } = JSON.parse(run('truckroll get company --json', own)) as { id: string };
      operate('company', 'delete', id, '--yes-delete', SUMMARY);
      const refused = spawnSync('truckroll', ['get', 'company'], { cwd: home, env: { ...environment, ...own }, encoding: 'utf8' });
      expect(refused.status === 1 && refused.stderr.includes('does not accept the credential'), 'the key of a deleted company is refused', refused.stderr);
    },
  ],
];

let done = 0;
try {
  for (const [what, step] of steps) {
    const startedAt = performance.now();
    await step();
    done += 1;
    console.log(`${what}: ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
  }
} catch (error) {
  console.error(`It fails where an integrator ${steps[done]?.[0]}.\n${(error as Error).message}`);
  process.exitCode = 1;
} finally {
  if (endpoint !== '') spawnSync('truckroll', ['webhooks', 'delete', endpoint], { cwd: home, env: environment });
  rmSync(home, { recursive: true, force: true });
}
console.log(`${done} of ${steps.length} steps of an integrator's trial passed.`);
