// Makes the Python client's wheel: a zip of its modules and what says what it is. Written here because images are built without Python.
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { crc32, deflateRawSync } from 'node:zlib';

/** The version as PEP 440 spells it: 1.4.0-rc.1 is 1.4.0rc1, and 1.4.0-dev-0123abcd is 1.4.0.dev19114957. */
export function pythonVersion(version) {
  const [, released, before, number, digest] = /^([\d.]+)(?:-(a|b|rc)\.?(\d+)|-dev-([0-9a-f]+))?$/.exec(version) ?? [];
  if (released === undefined) throw new Error(`Python has no spelling of the version ${version}: use one such as 1.4.0-rc.1`);
  if (digest !== undefined) return `${released}.dev${Number.parseInt(digest, 16)}`;
  return before === undefined ? released : `${released}${before}${number}`;
}

/** `folder` is the project's. Resolves to the wheel's name and bytes, always the same for the same files. */
export function makeWheel(folder, version) {
  const name = pythonVersion(version);
  const facts = `truckroll-${name}.dist-info`;
  const modules = readdirSync(join(folder, 'src/truckroll')).filter((file) => /\.(py|typed)$/.test(file));
  const files = new Map(modules.sort().map((file) => [`truckroll/${file}`, readFileSync(join(folder, 'src/truckroll', file))]));
  files.set('truckroll/_version.py', Buffer.from(`__version__ = "${name}"\n`));
  files.set(`${facts}/licenses/LICENSE`, readFileSync(join(folder, 'LICENSE')));
  files.set(`${facts}/METADATA`, Buffer.from(metadata(folder, name)));
  files.set(`${facts}/WHEEL`, Buffer.from('Wheel-Version: 1.0\nGenerator: truckroll\nRoot-Is-Purelib: true\nTag: py3-none-any\n'));
  const records = [...files].map(([path, bytes]) => `${path},sha256=${createHash('sha256').update(bytes).digest('base64url')},${bytes.length}\n`);
  files.set(`${facts}/RECORD`, Buffer.from(`${records.join('')}${facts}/RECORD,,\n`));
  return { file: `truckroll-${name}-py3-none-any.whl`, bytes: zip(files) };
}

function metadata(folder, version) {
  const project = readFileSync(join(folder, 'pyproject.toml'), 'utf8');
  const value = (key) => JSON.parse(new RegExp(`^${key} = (.+)$`, 'm').exec(project)[1]);
  const lines = [
    'Metadata-Version: 2.4',
    `Name: ${value('name')}`,
    `Version: ${version}`,
    `Summary: ${value('description')}`,
    `License-Expression: ${value('license')}`,
    'License-File: LICENSE',
    `Requires-Python: ${value('requires-python')}`,
    ...value('dependencies').map((each) => `Requires-Dist: ${each}`),
    'Description-Content-Type: text/markdown',
  ];
  return `${lines.join('\n')}\n\n${readFileSync(join(folder, 'README.md'), 'utf8')}`;
}

/** All files have the first time that a zip can have. */
function zip(files) {
  const parts = [];
  const directory = [];
  let at = 0;
  for (const [path, bytes] of files) {
    const name = Buffer.from(path);
    const packed = deflateRawSync(bytes, { level: 9 });
    // Version 2.0, deflated, 1980-01-01; then the sum, both sizes, and the length of the name.
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(8, 4);
    common.writeUInt16LE(0x21, 8);
    common.writeUInt32LE(crc32(bytes), 10);
    common.writeUInt32LE(packed.length, 14);
    common.writeUInt32LE(bytes.length, 18);
    common.writeUInt16LE(name.length, 22);
    // Made on Unix, with the permissions 644 of a plain file; and where the entry is.
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(0o100644 * 2 ** 16, 6);
    rest.writeUInt32LE(at, 10);
    parts.push(Buffer.from('PK\x03\x04'), common, name, packed);
    directory.push(Buffer.from('PK\x01\x02\x14\x03', 'latin1'), common, rest, name);
    at += 30 + name.length + packed.length;
  }
  const index = Buffer.concat(directory);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(files.size, 4);
  end.writeUInt16LE(files.size, 6);
  end.writeUInt32LE(index.length, 8);
  end.writeUInt32LE(at, 12);
  return Buffer.concat([...parts, index, Buffer.from('PK\x05\x06'), end]);
}
