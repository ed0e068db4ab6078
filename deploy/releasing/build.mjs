// Builds what a release consists of, from a commit and not from the checkout's files.
import { spawnSync } from 'node:child_process';
import { copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chartTools } from '../chart-tools.mjs';
import { assemble } from './assemble.mjs';
import { NAME, entriesOf, sha256 } from './layout.mjs';
import { chartSbom, imageSbom, packagesSbom, pythonSbom, scan } from './sbom.mjs';

const root = join(import.meta.dirname, '../..');
/** Node's image for all platforms. The digest changes with Node and with Debian's updates: take the newest before a release. */
const BASE = 'docker.io/library/node:24.21.0-bookworm-slim@sha256:0e0ff40c39bc087845bfb27465a0df4ea419520094bc35842ff83dd8cbe6f9b6';
const PLATFORMS = ['linux/amd64', 'linux/arm64'];
/** Images have this name only while they are built. */
const REPOSITORY = 'localhost/truckroll-release';

function run(command, args, options) {
  const { status, stdout, stderr, error } = spawnSync(command, args, { encoding: 'utf8', cwd: root, maxBuffer: 1e8, ...options });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed: ${error?.message ?? `${stdout ?? ''}${stderr ?? ''}`}`);
  return stdout?.trim();
}

/** A released version is built from its commit in releases.json, a pre-release such as 1.4.0-rc.1 from HEAD. */
function commitOf(version) {
  if (run('git', ['status', '--porcelain']) !== '') throw new Error('The checkout has changes that no commit has: commit or remove them.');
  const released = JSON.parse(readFileSync(join(root, 'releases.json'), 'utf8')).find((release) => release.version === version);
  if (released === undefined && !/^\d+\.\d+\.\d+-(a|b|rc)\.?\d+$/.test(version))
    throw new Error(`${version} is not in releases.json: record it, or give a pre-release such as ${version}-rc.1, which is built from HEAD`);
  return run('git', ['rev-parse', `${released?.commit ?? 'HEAD'}^{commit}`]);
}

/** Builds a release in `folder`, with `work` for everything else. */
export async function build(folder, work, { version, key, platforms = PLATFORMS, base = BASE, before }) {
  const commit = commitOf(version);
  const epoch = run('git', ['show', '--no-patch', '--format=%ct', commit]);
  const createdAt = new Date(epoch * 1000).toISOString();
  const [source, layout] = [join(work, 'source'), join(folder, 'oci')];
  mkdirSync(source);
  mkdirSync(layout, { recursive: true });
  run('bash', ['-c', 'git archive "$0" | tar -x -C "$1"', commit, source]);
  run('node', ['scripts/run.mjs', 'generate'], { cwd: source, stdio: ['ignore', 2, 2], env: { ...process.env, TRUCKROLL_VERSION: version } });
  const pnpm = (await import(pathToFileURL(join(source, 'scripts/pnpm.mjs')).href)).pinnedPnpm();

  const clientFiles = packedClients({ source, folder, version, before, packed: join(work, 'packed') });
  useOwnStore(work, base);
  const components = ['gateway', ...readdirSync(join(source, 'services')), 'truckroll'];
  const bases = platforms.map((platform) => buildImages({ platform, base, version, commit, epoch, layout, components }));
  const built = new Map(entriesOf(layout).map(({ annotations, mediaType, digest, size }) => [annotations[NAME], { mediaType, digest, size }]));
  const packages = (name, member) => packagesSbom({ pnpm, source, createdAt, component: { type: 'application', name, version }, member });
  const images = components.map((component) => ({
    component,
    manifests: platforms.map((platform) => {
      const [os, architecture] = platform.split('/');
      return { ...built.get(`${component}-${architecture}`), platform: { os, architecture } };
    }),
    sbom: imageSbom(packages(component, component === 'truckroll' ? 'tools/cli' : component === 'gateway' ? component : `services/${component}`), bases),
  }));
  // Without root, its files belong to users that only buildah may act as.
  if (process.getuid() !== 0) run('buildah', ['unshare', 'rm', '-rf', join(work, 'store')]);
  const chart = { ...buildChart({ source, folder, version }), sbom: chartSbom({ version, createdAt, images }) };
  const changelog = readFileSync(notesOf(source, version), 'utf8');
  const provenance = {
    buildDefinition: {
      buildType: 'urn:truckroll:deploy-release:1',
      externalParameters: { version, platforms },
      internalParameters: { SOURCE_DATE_EPOCH: epoch },
      resolvedDependencies: [
        { uri: `pkg:generic/truckroll@${version}`, digest: { gitCommit: commit } },
        ...bases.map(({ platform, digest }) => ({
          uri: base === BASE ? base : `containers-storage:${base}`,
          digest: { sha256: digest },
          annotations: { platform },
        })),
        { uri: 'pnpm-lock.yaml', digest: { sha256: sha256(readFileSync(join(source, 'pnpm-lock.yaml'))) } },
      ],
    },
    // SLSA's level 1: the holder of the key vouches for it, and no build service does. The build can be repeated.
    runDetails: { builder: { id: 'urn:truckroll:holder-of-the-release-key', version: { buildah: run('buildah', ['--version']), node: process.version } } },
  };
  const clients = {
    client: { file: clientFiles.find((file) => file.startsWith('truckroll-client-')), sbom: packages('@truckroll/client', 'packages/client') },
    cli: { file: clientFiles.find((file) => file.startsWith('truckroll-cli-')), sbom: packages('@truckroll/cli', 'packages/cli') },
    'client-python': {
      file: clientFiles.find((file) => file.endsWith('.whl')),
      sbom: pythonSbom({ version, createdAt, project: join(source, 'clients/python') }),
    },
  };
  assemble(folder, { version, createdAt, images, chart, clients, changelog, provenance, key });
  scan({ pnpm, source, sboms: join(folder, 'sbom') });
  for (const platform of PLATFORMS.filter((each) => !platforms.includes(each))) console.log(`not built: ${platform}`);
  if (base !== BASE) console.log(`built from ${base} and not from the pinned base, ${BASE}`);
}

/** Has buildah use an empty store: layers cached by an earlier build have other times, so the images would not be the same. */
function useOwnStore(work, base) {
  if (base !== BASE) run('buildah', ['push', '--quiet', base, `oci-archive:${join(work, 'base')}:${base}`]);
  process.env.CONTAINERS_STORAGE_CONF = join(work, 'storage.conf');
  const settings = { driver: 'overlay', graphroot: join(work, 'store'), runroot: join(work, 'store-run') };
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${JSON.stringify(value)}\n`);
  writeFileSync(process.env.CONTAINERS_STORAGE_CONF, `[storage]\n${lines.join('')}`);
  if (base !== BASE) run('buildah', ['pull', '--quiet', `oci-archive:${join(work, 'base')}`]);
}

/** Builds every component's image for a platform, into the layout as COMPONENT-ARCHITECTURE. Returns what they have from the base. */
function buildImages({ platform, base, version, commit, epoch, layout, components }) {
  if (base === BASE) {
    const { status, stderr } = spawnSync('buildah', ['pull', '--quiet', '--platform', platform, base], { encoding: 'utf8' });
    const remedy = 'leave the platform out by --platforms, or name a local image by --base: the release says so then';
    if (status !== 0) throw new Error(`The base for ${platform} cannot be pulled: ${stderr.trim()}\n${remedy}`);
  }
  const env = { ...process.env, REPOSITORY, PLATFORM: platform, NODE_IMAGE: base, COMMIT: commit, SOURCE_DATE_EPOCH: epoch };
  run('deploy/images', [version, ...components], { env, stdio: ['ignore', 2, 2] });
  for (const component of components) {
    run('buildah', ['push', '--quiet', `${REPOSITORY}/${component}:${version}`, `oci:${layout}:${component}-${platform.split('/')[1]}`]);
  }
  const container = run('buildah', ['from', '--pull-never', '--platform', platform, base]);
  try {
    const [node, ...debian] = run('buildah', ['run', container, '--', 'sh', '-c', PARTS]).split('\n');
    const digest = /@sha256:(.+)/.exec(base)?.[1] ?? run('buildah', ['inspect', '--format', '{{.FromImageID}}', container]);
    return { platform, digest, node, debian };
  } finally {
    run('buildah', ['rm', container]);
  }
}

/** Prints the version of Node, then name, version and architecture of the Debian packages whose libraries the Dockerfile copies. */
const PARTS = `node --version
ldd /usr/local/bin/node | grep -o '/[^ ]*' | sed 's,.*/,*/,' | sort -u | xargs dpkg-query -S | cut -d: -f1 | sort -u |
  xargs dpkg-query --show --showformat '\${Package} \${Version} \${Architecture}\n'`;

/**
 * Puts the clients' packages into the release, and into the folder from which all platforms' gateways serve the same bytes, with those of the
 * release before this one. Returns their names.
 */
function packedClients({ source, folder, version, before, packed }) {
  const made = join(source, 'gateway/clients/gen', version);
  const files = readdirSync(made);
  cpSync(made, join(packed, version), { recursive: true });
  for (const file of files) copyFileSync(join(made, file), join(folder, file));
  if (before !== undefined) {
    const former = readdirSync(before).filter((file) => /^truckroll-(client|cli)-.+\.tgz$|^truckroll-.+\.whl$/.test(file));
    const of = former.map((file) => /^truckroll-client-(.+)\.tgz$/.exec(file)?.[1]).find((found) => found !== undefined);
    if (of === undefined) throw new Error(`--before ${before} has no truckroll-client-VERSION.tgz: name the folder of the release before this one.`);
    for (const file of former) cpSync(join(before, file), join(packed, of, file));
  }
  process.env.PACKED_CLIENTS = packed;
  return files;
}

/** The notes of a release are its chart's changelog, since both have one version. */
const notesOf = (source, version) => [version, 'unreleased'].map((name) => join(source, `docs/releases/${name}.md`)).find(existsSync);

function buildChart({ source, folder, version }) {
  const chart = join(source, 'deploy/helm/truckroll');
  cpSync(notesOf(source, version), join(chart, 'CHANGELOG.md'), { preserveTimestamps: true });
  const helm = join(chartTools(), 'helm');
  run(helm, ['package', chart, '--version', version, '--app-version', version, '--destination', folder]);
  const file = `truckroll-${version}.tgz`;
  const { parse } = createRequire(join(source, 'test/package.json'))('yaml');
  return { file, facts: parse(run(helm, ['show', 'chart', join(folder, file)])) };
}
