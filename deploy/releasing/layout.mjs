// Reads and writes an OCI image layout: a folder with blobs by digest, and index.json with what it holds.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export const MANIFEST = 'application/vnd.oci.image.manifest.v1+json';
export const INDEX = 'application/vnd.oci.image.index.v1+json';
/** Annotation of what has a tag, `gateway:1.4.0`. */
export const NAME = 'org.opencontainers.image.ref.name';
/** Annotation of everything in index.json: its repository below the registry's path. */
export const REPOSITORY = 'truckroll.repository';

export const sha256 = (bytes) => createHash('sha256').update(bytes).digest('hex');
const pathOf = (layout, digest) => join(layout, 'blobs', ...digest.split(':'));

/** Stores a blob: bytes, or a value as JSON. Returns its descriptor. */
export function put(layout, mediaType, content) {
  const bytes = Buffer.isBuffer(content) ? content : Buffer.from(JSON.stringify(content));
  const digest = `sha256:${sha256(bytes)}`;
  mkdirSync(join(layout, 'blobs/sha256'), { recursive: true });
  writeFileSync(pathOf(layout, digest), bytes);
  return { mediaType, digest, size: bytes.length };
}

/** Stores a manifest. Without a config it has the empty one. */
export function putManifest(layout, { config, ...rest }) {
  const empty = () => put(layout, 'application/vnd.oci.empty.v1+json', {});
  return put(layout, MANIFEST, { schemaVersion: 2, mediaType: MANIFEST, config: config ?? empty(), ...rest });
}

export const readBlob = (layout, digest) => readFileSync(pathOf(layout, digest));
export const readJson = (layout, digest) => JSON.parse(readBlob(layout, digest));
export const entriesOf = (layout) => JSON.parse(readFileSync(join(layout, 'index.json'), 'utf8')).manifests;

export function writeIndex(layout, manifests, annotations) {
  writeFileSync(join(layout, 'oci-layout'), JSON.stringify({ imageLayoutVersion: '1.0.0' }));
  writeFileSync(join(layout, 'index.json'), `${JSON.stringify({ schemaVersion: 2, mediaType: INDEX, manifests, annotations }, null, 1)}\n`);
}
