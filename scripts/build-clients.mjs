// Makes the files below /clients (decisions §20): the packages of the clients, and index.json with their digests, in gateway/clients/gen.
// Skipped if no source has changed since the last run. Packages in gateway/clients/packed/<version> are copied: those of the last
// release, and those of this one if another build has made them.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pinnedPnpm } from './pnpm.mjs';
import { makeWheel } from './wheel.mjs';

const root = join(import.meta.dirname, '..');
const client = join(root, 'packages/client');
const cli = join(root, 'packages/cli');
const python = join(root, 'clients/python');
const out = join(root, 'gateway/clients/gen');
const packed = join(root, 'gateway/clients/packed');
const stamp = join(out, '.stamp');
/** Versions that Python can spell too. */
const RELEASED = /^\d+\.\d+\.\d+(-(a|b|rc)\.?\d+)?$/;
/** What files are for. */
const KINDS = [
  { form: /\/truckroll-client-[^/]+\.tgz$/, name: '@truckroll/client', language: 'TypeScript', installer: 'npm install' },
  { form: /\/truckroll-cli-[^/]+\.tgz$/, name: '@truckroll/cli', language: 'Command line', installer: 'npm install -g' },
  { form: /\.whl$/, name: 'truckroll', language: 'Python', installer: 'pip install' },
];

/** The stamp file that records the last run. */
export const clientsStamp = stamp;

export function clientsSources() {
  const sources = [client, cli].flatMap((folder) => filesBelow(join(folder, 'src'))).filter((path) => !path.includes('/gen/'));
  const others = [client, cli].flatMap((folder) => ['README.md', 'LICENSE', 'package.json'].map((name) => join(folder, name)));
  const modules = filesBelow(join(python, 'src')).filter((path) => /\.(py|typed)$/.test(path));
  const pythons = [...modules, ...['README.md', 'LICENSE', 'pyproject.toml'].map((name) => join(python, name))];
  const scripts = [
    'scripts/build-client.mjs',
    'scripts/build-cli.mjs',
    'scripts/cli-catalog.mjs',
    'scripts/wheel.mjs',
    'packages/client/tsconfig.json',
    'gateway/openapi.json',
    'package.json',
    'pnpm-lock.yaml',
  ].map((name) => join(root, name));
  return [...sources, ...others, ...pythons, ...scripts, ...filesBelow(packed), import.meta.filename];
}

function filesBelow(folder) {
  if (!existsSync(folder)) return [];
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .sort();
}

export function buildClients() {
  const hash = createHash('sha256').update(process.env.TRUCKROLL_VERSION ?? '');
  for (const name of clientsSources()) hash.update(name.slice(root.length)).update(readFileSync(name));
  const digest = hash.digest('hex');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === digest) return;

  const version = versionOf(digest);
  // Built in a separate folder and renamed, so that a gateway that is starting never sees half of it.
  const fresh = `${out}.${process.pid}`;
  rmSync(fresh, { recursive: true, force: true });
  mkdirSync(fresh, { recursive: true });
  if (existsSync(packed)) cpSync(packed, fresh, { recursive: true });
  if (!existsSync(join(fresh, version))) {
    mkdirSync(join(fresh, version));
    for (const script of ['build-client.mjs', 'build-cli.mjs']) pack(script, version, join(fresh, version));
    const { file, bytes } = makeWheel(python, version);
    writeFileSync(join(fresh, version, file), bytes);
  }
  writeFileSync(join(fresh, 'index.json'), `${JSON.stringify(indexOf(fresh, version), null, 2)}\n`);
  writeFileSync(join(fresh, '.stamp'), digest);
  const former = `${fresh}.former`;
  if (existsSync(out)) renameSync(out, former);
  renameSync(fresh, out);
  rmSync(former, { recursive: true, force: true });
  console.error(`packed the clients of version ${version}`);
}

/** What index.json says of a folder VERSION/FILE: packages of `version` come first. */
export function indexOf(folder, version) {
  const clients = filesBelow(folder).map((path) => entryOf(path.slice(folder.length + 1), readFileSync(path)));
  clients.sort((a, b) => Number(b.version === version) - Number(a.version === version));
  return { version, clients };
}

/** Files of a version never change, so a build that is no release is versioned by a digest of its sources. */
function versionOf(digest) {
  const { TRUCKROLL_VERSION: released = '' } = process.env;
  if (RELEASED.test(released)) return released;
  return `${JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version}-dev-${digest.slice(0, 8)}`;
}

/** The pinned pnpm packs, so that a release can be built again, whichever npm there is. */
function pack(script, version, folder) {
  const work = mkdtempSync(join(tmpdir(), 'truckroll-pack-'));
  try {
    run(join(root, 'scripts', script), [work, version], root);
    run(pinnedPnpm(), ['pack', '--pack-destination', folder], work);
  } finally {
    rmSync(work, { recursive: true });
  }
}

function run(program, args, cwd) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], { cwd, encoding: 'utf8' });
  if (status !== 0) throw new Error(`The clients could not be packed:\n${stdout}${stderr}`);
}

/** `{{address}}` becomes the gateway's address. */
function entryOf(file, bytes) {
  const [version] = file.split('/');
  const kind = KINDS.find(({ form }) => form.test(file));
  if (kind === undefined) throw new Error(`gateway/clients has ${file}, which is no client`);
  const { form: _, installer, ...facts } = kind;
  const digestOf = (algorithm, encoding) => createHash(algorithm).update(bytes).digest(encoding);
  return {
    ...facts,
    version,
    file,
    bytes: bytes.length,
    sha256: digestOf('sha256', 'hex'),
    integrity: `sha512-${digestOf('sha512', 'base64')}`,
    install: `${installer} {{address}}/clients/${file}`,
  };
}
