// Copies releases between folders and OCI registries, with oras: https://oras.land.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { goTools } from '../../scripts/go-tools.mjs';
import { SUMS, SUMS_SIGNATURE, filesOf } from './assemble.mjs';
import { REPOSITORY, entriesOf } from './layout.mjs';
import { taggedIn } from './verify.mjs';

/** The repository whose one artefact is every file of the release but blobs, which the other repositories have. */
const RELEASE = 'release';
const LAYOUT_INDEX = 'oci/index.json';

/** The folder of oras and registry. */
export const releaseTools = () =>
  goTools({ module: join(import.meta.dirname, '../tools/release'), name: 'truckroll-release-tools', purpose: 'Registries are reached' });

function oras(args, options = {}) {
  const { status, stdout, stderr } = spawnSync(join(releaseTools(), 'oras'), args, { encoding: 'utf8', ...options });
  return { good: status === 0, stdout: stdout.trim(), error: `oras ${args.join(' ')} failed: ${stderr}` };
}

function run(...args) {
  const { good, stdout, error } = oras(...args);
  if (!good) throw new Error(error);
  return stdout;
}

/** The digest of a tag, or undefined if there is none. */
function digestOf(reference) {
  const { good, stdout, error } = oras(['resolve', reference]);
  if (!good && !/not found/i.test(error)) throw new Error(error);
  return good ? stdout : undefined;
}

const onRegistry = (place) => (place.startsWith('oci://') ? place.slice('oci://'.length) : undefined);

/** Copies the release in `folder` to another folder or, by oci://HOST/PATH, to a registry. */
export function publish(folder, target) {
  const path = onRegistry(target);
  if (path === undefined) return copy(folder, target);
  const tagged = taggedIn(folder);
  const [{ version }] = tagged;
  const loose = [...filesOf(folder).filter((file) => !file.startsWith('oci/blobs/')), SUMS, SUMS_SIGNATURE];
  const published = ({ name, digest }) => {
    const existing = digestOf(`${path}/${name}:${version}`);
    if (existing !== undefined && existing !== digest)
      throw new Error(`${path}/${name}:${version} is already published, with other content: use another version`);
  };
  tagged.forEach(published);
  // Tags come last: until everything is there, nothing has a name.
  for (const { name, digest } of tagged) run(['cp', '--recursive', '--from-oci-layout', `${folder}/oci@${digest}`, `${path}/${name}@${digest}`]);
  const created = JSON.parse(readFileSync(join(folder, LAYOUT_INDEX), 'utf8')).annotations['org.opencontainers.image.created'];
  const options = ['--artifact-type', 'application/vnd.truckroll.release', '--annotation', `org.opencontainers.image.created=${created}`];
  const digest = run(['push', '--format', 'go-template={{.digest}}', ...options, `${path}/${RELEASE}`, ...loose], { cwd: folder });
  const all = [...tagged, { name: RELEASE, digest }];
  published(all.at(-1));
  for (const { name, digest } of all) run(['tag', `${path}/${name}@${digest}`, version]);
}

function copy(folder, target) {
  if (existsSync(target)) throw new Error(`${target} exists already: name a new folder`);
  // The signature is written last, so a copy that broke off is not a release.
  cpSync(folder, target, { recursive: true, filter: (path) => path !== join(folder, SUMS_SIGNATURE) });
  cpSync(join(folder, SUMS_SIGNATURE), join(target, SUMS_SIGNATURE));
}

/** The folder of a release: `source` itself or, for oci://HOST/PATH:VERSION, a copy in `folder`. Its tags must lead to what it lists. */
export function fetchRelease(source, folder) {
  const reference = onRegistry(source);
  if (reference === undefined) return resolve(source);
  const [, path, version] = /^(.+):([^:/]+)$/.exec(reference) ?? [];
  if (version === undefined) throw new Error(`${source} names no version: oci://HOST/PATH:VERSION`);
  run(['pull', `${path}/${RELEASE}:${version}`, '--output', folder]);
  const layout = join(folder, 'oci');
  const index = readFileSync(join(folder, LAYOUT_INDEX));
  for (const { digest, annotations } of entriesOf(layout)) {
    run(['cp', '--to-oci-layout', `${path}/${annotations[REPOSITORY]}@${digest}`, `${layout}@${digest}`]);
    // oras rewrites it for what it has copied.
    writeFileSync(join(folder, LAYOUT_INDEX), index);
  }
  for (const { name, digest, version: listed } of taggedIn(folder))
    if (listed !== version || digestOf(`${path}/${name}:${version}`) !== digest)
      throw new Error(`${path}/${name}:${version} is not what the release lists, ${name}:${listed}@${digest}`);
  return folder;
}
