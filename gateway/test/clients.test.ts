// The packages of the clients below /clients (decisions §20), and installing them into an empty folder with an empty home.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { NODES } from '../../test/command-line/program.ts';
import { pythonTools } from '../../test/python/tools.ts';
import { indexOf } from '../../scripts/build-clients.mjs';
import { request, startGateway, type TestGateway } from './support/gateway.ts';

const execute = promisify(execFile);
const ADDRESS = 'https://api.example.com/fsm';

interface Client {
  name: string;
  version: string;
  file: string;
  bytes: number;
  sha256: string;
  integrity: string;
  install: string;
}

let gateway: TestGateway;
let clients: Client[];
const folder = mkdtempSync(join(tmpdir(), 'truckroll-install-'));
beforeAll(async () => {
  gateway = await startGateway({ PUBLIC_URL: `${ADDRESS}/` });
  ({ clients } = (await request(`${gateway.url}/clients/index.json`)).body);
});
afterAll(async () => {
  await gateway.stop();
  rmSync(folder, { recursive: true });
});

const linesOf = (text: string): string[] => text.split('\n').filter((line) => line.includes('/clients/'));

test('lists every file with its digests, which caches may keep for ever', async () => {
  expect(clients.length).toBeGreaterThan(0);
  for (const { version, file, bytes, sha256, integrity } of clients) {
    const answer = await fetch(`${gateway.url}/clients/${file}`, { headers: { 'accept-encoding': 'gzip, br' } });
    const body = Buffer.from(await answer.arrayBuffer());
    const digest = (algorithm: string, encoding: 'hex' | 'base64') => createHash(algorithm).update(body).digest(encoding);
    expect([body.length, digest('sha256', 'hex'), `sha512-${digest('sha512', 'base64')}`]).toEqual([bytes, sha256, integrity]);
    const headers = ['cache-control', 'content-encoding'].map((name) => answer.headers.get(name));
    expect(headers).toEqual(['public, max-age=31536000, immutable', null]);
    expect(file).toContain(`${version}/`);
  }
});

test('lists the packages of the release first, then those of the last release', () => {
  const packages = mkdtempSync(join(tmpdir(), 'truckroll-packages-'));
  try {
    for (const version of ['1.3.0', '1.4.0']) {
      mkdirSync(join(packages, version));
      writeFileSync(join(packages, version, `truckroll-client-${version}.tgz`), version);
    }
    const { version, clients: listed } = indexOf(packages, '1.4.0');
    expect([version, ...listed.map(({ install }) => install)]).toEqual([
      '1.4.0',
      'npm install {{address}}/clients/1.4.0/truckroll-client-1.4.0.tgz',
      'npm install {{address}}/clients/1.3.0/truckroll-client-1.3.0.tgz',
    ]);
    writeFileSync(join(packages, 'note.txt'), '');
    expect(() => indexOf(packages, '1.4.0')).toThrow('gateway/clients has note.txt, which is no client');
  } finally {
    rmSync(packages, { recursive: true });
  }
});

test('names what there is at any other path, without a credential', async () => {
  const { status, body } = await request(`${gateway.url}/clients/0.0.1/truckroll-client-0.0.1.tgz`);
  expect([status, body.error.code]).toEqual([404, 'NOT_FOUND']);
  expect(body.error.message).toContain(`has the clients of ${clients[0]!.version}.`);
});

test('shows the install line of this host in the list, in the documentation and to programs', async () => {
  const pages = await Promise.all(['/llms.txt', '/docs/start.md', '/docs/start'].map((path) => request(gateway.url + path)));
  for (const { file, install } of clients) {
    expect(install).toContain(` ${ADDRESS}/clients/${file}`);
    for (const { text } of pages) expect(linesOf(text).filter((line) => line.includes(`${ADDRESS}/clients/${file}`))).not.toEqual([]);
  }
  for (const { text } of pages) expect(text).not.toContain('{{');
});

test('without a public address, lines have the variable of all samples', async () => {
  const other = await startGateway({}, gateway);
  try {
    const { text } = await request(`${other.url}/llms.txt`);
    expect(linesOf(text)).toContainEqual(expect.stringContaining('npm install $TRUCKROLL_URL/clients/'));
  } finally {
    await other.stop();
  }
});

test('npm installs the TypeScript client by its address alone, and older and newer Nodes import it', async () => {
  const { file } = clients.find(({ name }) => name === '@truckroll/client')!;
  const env = { PATH: process.env['PATH'], HOME: folder, npm_config_audit: 'false', npm_config_update_notifier: 'false' };
  // No registry answers there: the package needs no other package.
  await execute('npm', ['install', `${gateway.url}/clients/${file}`, '--registry', 'http://127.0.0.1:9'], { cwd: folder, env });
  const program = `import { createClient } from '@truckroll/client';
    const client = createClient({ baseUrl: '${gateway.url}', token: '${gateway.key}', retries: 0 });
    for await (const { id } of client.invoices.list()) console.log('invoice', id);
    await client.company.get({ signal: AbortSignal.abort('enough') }).catch((reason) => console.log(reason));`;
  for (const node of [process.execPath, 'node']) {
    const { stdout } = await execute(node, ['--input-type=module', '-e', program], { cwd: folder, env });
    expect(stdout).toMatch(/enough\n$/);
  }
});

test('pip installs the Python client by its address, and it reads from this gateway', async () => {
  const { file } = clients.find(({ name }) => name === 'truckroll')!;
  const python = join(pythonTools(), 'python');
  // Its own packages are there already, so that the test needs no registry.
  await execute(python, ['-m', 'pip', 'install', '--quiet', '--no-deps', '--no-compile', '--target', join(folder, 'python'), `${gateway.url}/clients/${file}`]);
  const program = `import truckroll
client = truckroll.Truckroll("${gateway.url}", "${gateway.key}", retries=0)
print([invoice["id"] for invoice in client.invoices.list()], truckroll.__version__, truckroll.__file__)`;
  const { stdout } = await execute(python, ['-c', program], { env: { PYTHONPATH: join(folder, 'python') } });
  expect(stdout).toMatch(new RegExp(`^\\[\\] ${file.split('-').at(-4)} ${folder}`));
});

test('npx runs the command line by its address, and npm installs it for good, without a registry', async () => {
  const { file } = clients.find(({ name }) => name === '@truckroll/cli')!;
  const url = `${gateway.url}/clients/${file}`;
  for (const node of NODES) {
    const home = mkdtempSync(join(folder, 'home-'));
    const path = `${dirname(node)}:${process.env['PATH']}`;
    const access = { TRUCKROLL_URL: gateway.url, TRUCKROLL_API_KEY: gateway.key };
    const env = {
      PATH: path,
      HOME: home,
      npm_config_registry: 'http://127.0.0.1:9',
      npm_config_audit: 'false',
      npm_config_update_notifier: 'false',
      ...access,
    };
    const options = { cwd: home, env };
    expect((await execute('npx', ['--yes', url, 'list', 'invoices'], options)).stdout).toBe('There are none.\n');
    await execute('npm', ['install', '--global', '--prefix', join(home, 'own'), url], options);
    const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../clients/gen/index.json'), 'utf8')) as { version: string };
    expect((await execute(join(home, 'own/bin/truckroll'), ['--version'], options)).stdout).toBe(`${version}\n`);
  }
});
