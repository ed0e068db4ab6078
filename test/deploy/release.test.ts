// Publishing and verifying a release, with a tiny stand-in for what deploy/release builds.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT, choosePort } from '@truckroll/local-stack';
import { until } from '@truckroll/testing/until';
import { chartTools } from '../../deploy/chart-tools.mjs';
import { SUMS, SUMS_SIGNATURE, assemble, filesOf, seal } from '../../deploy/releasing/assemble.mjs';
import { put, putManifest } from '../../deploy/releasing/layout.mjs';
import { releaseTools } from '../../deploy/releasing/registry.mjs';
import { packagesSbom } from '../../deploy/releasing/sbom.mjs';
import { verify } from '../../deploy/releasing/verify.mjs';

const VERSION = '9.9.9';
const COMPONENTS = ['gateway', 'truckroll'];
const NAMES = [...COMPONENTS, 'charts/truckroll', 'cli', 'client', 'client-python', 'release'];
const { privateKey: key, publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
const work = mkdtempSync(join(tmpdir(), 'truckroll-release-test-'));
const release = join(work, 'release');
const publicKeyFile = join(work, 'public.pem');
let registry: ChildProcess;
let host: string;

function assembleIn(folder: string): void {
  const layout = join(folder, 'oci');
  mkdirSync(layout, { recursive: true });
  const images = COMPONENTS.map((component) => {
    const layer = put(layout, 'application/vnd.oci.image.layer.v1.tar', randomBytes(1000));
    const config = put(layout, 'application/vnd.oci.image.config.v1+json', {
      architecture: 'amd64',
      os: 'linux',
      rootfs: { type: 'layers', diff_ids: [layer.digest] },
    });
    const platform = { os: 'linux', architecture: 'amd64' };
    return { component, manifests: [{ ...putManifest(layout, { config, layers: [layer] }), platform }], sbom: { bomFormat: 'CycloneDX' } };
  });
  const facts = { apiVersion: 'v2', name: 'truckroll', version: VERSION };
  const [chart, client, cli] = ['', '-client', '-cli'].map((name) => `truckroll${name}-${VERSION}.tgz`) as [string, string, string];
  const wheel = `truckroll-${VERSION}-py3-none-any.whl`;
  mkdirSync(join(work, 'truckroll'), { recursive: true });
  writeFileSync(join(work, 'truckroll/Chart.yaml'), JSON.stringify(facts));
  for (const file of [chart, client, cli, wheel]) spawnSync('tar', ['-czf', join(folder, file), '-C', work, 'truckroll']);
  const clients = { client: { file: client, sbom: {} }, cli: { file: cli, sbom: {} }, 'client-python': { file: wheel, sbom: {} } };
  const parts = { chart: { file: chart, facts, sbom: {} }, clients, changelog: 'Nothing.\n', provenance: { buildDefinition: {} } };
  assemble(folder, { version: VERSION, createdAt: '2026-11-29T00:00:00.000Z', images, ...parts, key });
}

/** A copy of the release under a new name, to change. */
function copyOf(): string {
  const folder = mkdtempSync(join(work, 'copy-'));
  cpSync(release, folder, { recursive: true });
  return folder;
}

interface Entry {
  digest: string;
  artifactType?: string;
}

/** Changes the layout's index.json, and lists and signs the result as its publisher would. */
function changeIndex(folder: string, change: (entries: Entry[]) => Entry[]): void {
  const path = join(folder, 'oci/index.json');
  const { manifests, ...rest } = JSON.parse(readFileSync(path, 'utf8')) as { manifests: Entry[] };
  writeFileSync(path, JSON.stringify({ ...rest, manifests: change(manifests) }));
  seal(folder, key);
}

const args = (...more: string[]): string[] => [join(ROOT, 'deploy/releasing/main.mjs'), ...more, '--public-key', publicKeyFile];

function command(...more: string[]): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, args(...more), { encoding: 'utf8' });
  return status === 0 ? stdout : `failed: ${stderr}`;
}

const ended = (child: ChildProcess): Promise<unknown> => new Promise((resolve) => child.once('close', resolve));

/** The tags of a release's repositories, without those that list what is attached to a digest. */
async function tagsIn(path: string): Promise<string[]> {
  const lists = NAMES.map(async (name) => {
    const response = await fetch(`http://${host}/v2/${path}/${name}/tags/list`);
    const { tags } = response.ok ? ((await response.json()) as { tags: string[] | null }) : { tags: [] };
    return (tags ?? []).filter((tag) => !tag.startsWith('sha256-')).map((tag) => `${name}:${tag}`);
  });
  return (await Promise.all(lists)).flat();
}

/** Passes requests on to the registry, until one puts a manifest whose address ends like this: it closes the connection and calls `reached`. */
async function proxy(end: RegExp, reached: () => void): Promise<{ port: number; close: () => void }> {
  const server = createServer((incoming, outgoing) => {
    const { method, url = '', headers } = incoming;
    if (method === 'PUT' && end.test(url)) {
      reached();
      return void incoming.socket.destroy();
    }
    const passed = request(`http://${host}${url}`, { method, headers }, (response) => {
      outgoing.writeHead(response.statusCode!, response.headers);
      response.pipe(outgoing);
    });
    passed.on('error', () => outgoing.destroy());
    incoming.pipe(passed);
  });
  const port = await choosePort();
  await new Promise<void>((resolve) => server.listen(port, 'localhost', resolve));
  return { port, close: () => server.close().closeAllConnections() };
}

beforeAll(async () => {
  const tools = releaseTools();
  writeFileSync(publicKeyFile, publicKey.export({ type: 'spki', format: 'pem' }));
  assembleIn(release);
  host = `localhost:${await choosePort()}`;
  const settings = { version: '0.1', log: { level: 'error' }, http: { addr: host }, storage: { filesystem: { rootdirectory: join(work, 'registry') } } };
  writeFileSync(join(work, 'registry.yaml'), JSON.stringify(settings));
  registry = spawn(join(tools, 'registry'), ['serve', join(work, 'registry.yaml')], { stdio: 'ignore', env: { ...process.env, OTEL_TRACES_EXPORTER: 'none' } });
  await until('the registry to answer', () =>
    fetch(`http://${host}/v2/`).then(
      ({ ok }) => ok,
      () => false,
    ),
  );
  // Compiling the tools takes minutes on a machine that has never done it.
}, 20 * 60_000);

afterAll(async () => {
  registry.kill('SIGKILL');
  await ended(registry);
  rmSync(work, { recursive: true, force: true });
});

test('lists packages in the same order whichever pnpm prints, with the time of the commit', () => {
  const lists = [
    ['pkg:npm/a@1', 'pkg:npm/b@1'],
    ['pkg:npm/b@1', 'pkg:npm/a@1'],
  ].map((refs, run) => {
    const printed = { serialNumber: run, metadata: { timestamp: run, component: {} }, components: refs.map((ref) => ({ 'bom-ref': ref })) };
    writeFileSync(join(work, 'pnpm.mjs'), `console.log(${JSON.stringify(JSON.stringify(printed))})`);
    return packagesSbom({ pnpm: join(work, 'pnpm.mjs'), source: work, createdAt: '2026-11-29T00:00:00.000Z', component: {}, member: 'gateway' });
  });
  expect(JSON.stringify(lists[0])).toBe(JSON.stringify(lists[1]));
});

test('publishes to folders and registries, and verifies what it fetches from there', async () => {
  const folder = join(work, 'new/folder');
  expect(command('--verify', release, '--to', folder, '--to', `oci://${host}/whole`)).toContain(`published oci://${host}/whole`);
  expect(command('--verify', folder)).toContain('6 artefacts are as signed');
  expect(command('--verify', `oci://${host}/whole:${VERSION}`)).toContain('6 artefacts are as signed');
  expect((await tagsIn('whole')).toSorted()).toEqual(NAMES.map((name) => `${name}:${VERSION}`).toSorted());
  expect(command('--verify', release, '--to', folder)).toMatch(/failed: .* exists already/);
});

test(
  'helm pulls the chart by the digest that was published',
  async () => {
    expect(command('--verify', release, '--to', `oci://${host}/charts-only`)).toContain('published');
    const found = await fetch(`http://${host}/v2/charts-only/charts/truckroll/manifests/${VERSION}`, {
      headers: { accept: 'application/vnd.oci.image.manifest.v1+json' },
    });
    const reference = `oci://${host}/charts-only/charts/truckroll@${found.headers.get('docker-content-digest')}`;
    const folder = mkdtempSync(join(work, 'pulled-'));
    const pulled = spawnSync(join(chartTools(), 'helm'), ['pull', reference, '--plain-http', '--destination', folder], { encoding: 'utf8' });
    expect(pulled).toMatchObject({ status: 0 });
    const files = readdirSync(folder).map((file) => readFileSync(join(folder, file), 'base64'));
    expect(files).toEqual([readFileSync(join(release, `truckroll-${VERSION}.tgz`), 'base64')]);
  },
  20 * 60_000,
);

test.each([
  ['halfway', /client\/manifests\/sha256:/, []],
  ['before the first tag', /gateway\/manifests\/9\.9\.9$/, []],
  ['before the last tag', /release\/manifests\/9\.9\.9$/, NAMES.slice(0, -1)],
])(
  'a push that is killed %s leaves no tag of a part, and publishes when repeated',
  async (moment, end, tagged) => {
    const path = `killed-${moment.replaceAll(' ', '-')}`;
    const { port, close } = await proxy(end, () => process.kill(-child.pid!, 'SIGKILL'));
    const child = spawn(process.execPath, args('--verify', release, '--to', `oci://localhost:${port}/${path}`), { detached: true, stdio: 'ignore' });
    await ended(child);
    close();
    expect(child.signalCode).toBe('SIGKILL');
    expect(await tagsIn(path)).toEqual(tagged.map((name) => `${name}:${VERSION}`));
    for (const name of tagged) {
      const whole = spawnSync(join(releaseTools(), 'oras'), ['cp', `${host}/${path}/${name}:${VERSION}`, '--to-oci-layout', mkdtempSync(join(work, 'whole-'))]);
      expect({ name, status: whole.status }).toEqual({ name, status: 0 });
    }
    expect(command('--verify', release, '--to', `oci://${host}/${path}`)).toContain('published');
    expect(await tagsIn(path)).toHaveLength(NAMES.length);
  },
  120_000,
);

test('replaces no published version by other content', () => {
  expect(command('--verify', release, '--to', `oci://${host}/taken`)).toContain('published');
  const other = join(work, 'other');
  assembleIn(other);
  expect(command('--verify', other, '--to', `oci://${host}/taken`)).toMatch(/failed: .*gateway:9.9.9 is already published/);
});

test('reports a tag that leads to something else than the release lists', () => {
  expect(command('--verify', release, '--to', `oci://${host}/moved`)).toContain('published');
  const other = join(work, 'moved');
  assembleIn(other);
  const { manifests } = JSON.parse(readFileSync(join(other, 'oci/index.json'), 'utf8')) as { manifests: { digest: string }[] };
  const oras = join(releaseTools(), 'oras');
  expect(spawnSync(oras, ['cp', '--from-oci-layout', `${other}/oci@${manifests[0]!.digest}`, `${host}/moved/gateway:${VERSION}`]).status).toBe(0);
  expect(command('--verify', `oci://${host}/moved:${VERSION}`)).toMatch(/failed: .*gateway:9.9.9 is not what the release lists/);
});

test('reports a tag that leads to another version', () => {
  expect(command('--verify', release, '--to', `oci://${host}/older`)).toContain('published');
  const oras = join(releaseTools(), 'oras');
  for (const name of NAMES) expect(spawnSync(oras, ['tag', `${host}/older/${name}:${VERSION}`, '9.9.10']).status).toBe(0);
  expect(command('--verify', `oci://${host}/older:9.9.10`)).toMatch(/failed: .*gateway:9.9.10 is not what the release lists, gateway:9.9.9@/);
});

test('reports a changed byte in any file of a release', () => {
  const folder = copyOf();
  const files = [...filesOf(folder), SUMS, SUMS_SIGNATURE];
  expect(files).toEqual(expect.arrayContaining(['oci/index.json', 'sbom/truckroll.cdx.json', 'sbom/charts-truckroll.cdx.json', `truckroll-${VERSION}.tgz`]));
  for (const file of files) {
    const bytes = readFileSync(join(folder, file));
    const changed = Buffer.from(bytes);
    changed[changed.length >> 1]! ^= 1;
    writeFileSync(join(folder, file), changed);
    expect(() => verify(folder, publicKey)).toThrow(file === SUMS_SIGNATURE ? SUMS : file);
    writeFileSync(join(folder, file), bytes);
  }
  expect(verify(folder, publicKey)).toEqual({ version: VERSION, files: files.length - 2, artefacts: 6 });
});

test.each([
  ['a file that it does not list', (folder: string) => writeFileSync(join(folder, 'more.txt'), ''), 'more.txt does not belong to the release'],
  ['a missing file', (folder: string) => rmSync(join(folder, 'images.txt')), 'images.txt is missing'],
  ['a copy that broke off', (folder: string) => rmSync(join(folder, SUMS_SIGNATURE)), 'is no whole release'],
  ['another key', (folder: string) => seal(folder, generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey), 'is not signed by this key'],
  [
    'statements about another artefact, listed and signed',
    (folder: string) => changeIndex(folder, (entries) => entries.map((entry, at) => (at === 0 ? { ...entry, digest: entries[4]!.digest } : entry))),
    'gateway has no signed',
  ],
  [
    'artefacts without statements, listed and signed',
    (folder: string) => changeIndex(folder, (entries) => entries.filter(({ artifactType }) => artifactType === undefined)),
    'client has no signed statement https://cyclonedx.org/bom',
  ],
])('reports %s', (_, change, fault) => {
  const folder = copyOf();
  change(folder);
  expect(() => verify(folder, publicKey)).toThrow(fault);
});
