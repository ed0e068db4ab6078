// Verifies a release in a folder with nothing but Node and the public key.
import { verify as verifySignature } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SUMS, SUMS_SIGNATURE, filesOf } from './assemble.mjs';
import { NAME, entriesOf, readBlob, readJson, sha256 } from './layout.mjs';
import { BUNDLE, PROVENANCE, SBOM, SIGNATURE, isStated } from './statements.mjs';

/** The artefacts with a tag: { name, version, digest }. */
export const taggedIn = (folder) =>
  entriesOf(join(folder, 'oci')).flatMap(({ annotations, digest }) => {
    const [name, version] = annotations[NAME]?.split(':') ?? [];
    return name === undefined ? [] : [{ name, version, digest }];
  });

/** Throws an error that names every fault. */
export function verify(folder, publicKey) {
  const read = (path) => readFileSync(join(folder, path));
  for (const file of [SUMS, SUMS_SIGNATURE]) if (!existsSync(join(folder, file))) throw new Error(`${folder} is no whole release: it has no ${file}`);
  if (!verifySignature('sha256', read(SUMS), publicKey, read(SUMS_SIGNATURE))) throw new Error(`${SUMS} is not signed by this key, or was changed`);
  const sums = new Map(
    read(SUMS)
      .toString()
      .trimEnd()
      .split('\n')
      .map((line) => line.split('  ').toReversed()),
  );
  const present = new Set(filesOf(folder));
  const faults = [
    ...[...present].filter((path) => !sums.has(path)).map((path) => `${path} does not belong to the release`),
    ...[...sums.keys()].filter((path) => !present.has(path)).map((path) => `${path} is missing`),
    ...[...sums].filter(([path, sum]) => present.has(path) && sha256(read(path)) !== sum).map(([path]) => `${path} was changed`),
  ];
  // What follows reads these files.
  if (faults.length === 0) faults.push(...missingStatements(folder, publicKey));
  if (faults.length > 0) throw new Error(faults.join('\n'));
  const tagged = taggedIn(folder);
  return { version: tagged[0].version, files: sums.size, artefacts: tagged.length };
}

/** Other programs verify the statements of one artefact, without the sums: each must be signed, and about that artefact. */
function missingStatements(folder, publicKey) {
  const layout = join(folder, 'oci');
  const attached = entriesOf(layout).flatMap(({ artifactType, digest }) => (artifactType === BUNDLE ? [readJson(layout, digest)] : []));
  return taggedIn(folder).flatMap(({ name, digest }) => {
    const bundles = attached.filter(({ subject }) => subject.digest === digest).map(({ layers }) => readBlob(layout, layers[0].digest));
    const missing = [SIGNATURE, SBOM, PROVENANCE].filter((type) => !bundles.some((bundle) => isStated(publicKey, bundle, name, digest, type)));
    return missing.map((type) => `${name} has no signed statement ${type}`);
  });
}
