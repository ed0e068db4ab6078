// Puts a release together in a folder: images, chart and clients that are already built, with what says where they come from, signed.
import { sign } from 'node:crypto';
import { mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { INDEX, NAME, REPOSITORY, put, putManifest, sha256, writeIndex } from './layout.mjs';
import { BUNDLE, PROVENANCE, SBOM, SIGNATURE, signStatement } from './statements.mjs';

export const SUMS = 'SHA256SUMS';
export const SUMS_SIGNATURE = 'SHA256SUMS.sig';
export const IMAGES = 'images.txt';
/** What the clients are in a registry, by their name there. */
const CLIENTS = {
  client: { mediaType: 'application/gzip', artifactType: 'application/vnd.npm.package' },
  cli: { mediaType: 'application/gzip', artifactType: 'application/vnd.npm.package' },
  'client-python': { mediaType: 'application/zip', artifactType: 'application/vnd.python.wheel' },
};

/** All files of a folder but the list of sums and its signature, sorted, with `/`. */
export function filesOf(folder) {
  return readdirSync(folder, { recursive: true })
    .map((path) => path.split(sep).join('/'))
    .filter((path) => path !== SUMS && path !== SUMS_SIGNATURE && statSync(join(folder, path)).isFile())
    .sort();
}

/**
 * `images` are { component, manifests, sbom }, where manifests are descriptors with a platform, and their blobs are in `folder`/oci. `chart` and
 * each of `clients` are { file, sbom }, with files in `folder`; the chart has also its Chart.yaml, read, as `facts`. `sbom` is a CycloneDX document.
 */
export function assemble(folder, { version, createdAt, images, chart, clients, changelog, provenance, key }) {
  const layout = join(folder, 'oci');
  const created = { 'org.opencontainers.image.created': createdAt };
  const entries = [];
  const write = (path, content) => writeFileSync(join(folder, path), content);
  mkdirSync(join(folder, 'sbom'), { recursive: true });

  /** Lists an artefact with its tag, and attaches its signed statements. */
  function list(name, descriptor, sbom) {
    entries.push({ ...descriptor, annotations: { [NAME]: `${name}:${version}`, [REPOSITORY]: name } });
    for (const [type, predicate] of Object.entries({ [SIGNATURE]: {}, [SBOM]: sbom, [PROVENANCE]: provenance })) {
      const attached = putManifest(layout, {
        artifactType: BUNDLE,
        layers: [put(layout, BUNDLE, signStatement(key, name, descriptor.digest, type, predicate))],
        subject: descriptor,
        annotations: { ...created, 'dev.sigstore.bundle.content': 'dsse-envelope', 'dev.sigstore.bundle.predicateType': type },
      });
      entries.push({ ...attached, artifactType: BUNDLE, annotations: { [REPOSITORY]: name } });
    }
    write(`sbom/${name.replace('/', '-')}.cdx.json`, `${JSON.stringify(sbom, null, 1)}\n`);
    return `${name}:${version}@${descriptor.digest}\n`;
  }

  /** An artefact with one file. */
  function fileManifest(file, mediaType, rest) {
    const layer = { ...put(layout, mediaType, readFileSync(join(folder, file))), annotations: { 'org.opencontainers.image.title': file } };
    return putManifest(layout, { layers: [layer], annotations: created, ...rest });
  }

  // Names are relative to the registry's path, which a mirror has too.
  const listed = images.map(({ component, manifests, sbom }) => list(component, put(layout, INDEX, { schemaVersion: 2, mediaType: INDEX, manifests }), sbom));
  const config = put(layout, 'application/vnd.cncf.helm.config.v1+json', chart.facts);
  list('charts/truckroll', fileManifest(chart.file, 'application/vnd.cncf.helm.chart.content.v1.tar+gzip', { config }), chart.sbom);
  for (const [name, { mediaType, artifactType }] of Object.entries(CLIENTS)) {
    list(name, fileManifest(clients[name].file, mediaType, { artifactType }), clients[name].sbom);
  }
  writeIndex(layout, entries, created);
  write(IMAGES, listed.join(''));
  const digests = listed.map((line) => `    ${line.replace(/:.*@/, ': ')}`);
  write('digests.yaml', `# Values of the chart that install exactly the images of ${version}.\nimage:\n  digest:\n${digests.join('')}`);
  write('provenance.json', `${JSON.stringify(provenance, null, 1)}\n`);
  write('CHANGELOG.md', changelog);
  seal(folder, key);
}

/** Lists the sums of all files, and signs the list. */
export function seal(folder, key) {
  const sums = Buffer.from(
    filesOf(folder)
      .map((path) => `${sha256(readFileSync(join(folder, path)))}  ${path}\n`)
      .join(''),
  );
  writeFileSync(join(folder, SUMS), sums);
  writeFileSync(join(folder, SUMS_SIGNATURE), sign('sha256', sums, key));
}
