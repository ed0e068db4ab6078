// The command deploy/release.
import { createPrivateKey, createPublicKey } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { fetchRelease, publish } from './registry.mjs';
import { verify } from './verify.mjs';

const USAGE = `Builds, signs, publishes and verifies releases: docs/how-to/verify-a-release.md.

  deploy/release VERSION --key PRIVATE.pem --to TARGET [--to TARGET…] [--platforms linux/amd64,linux/arm64] [--base IMAGE] [--before FOLDER]
  deploy/release --verify SOURCE --public-key PUBLIC.pem [--to TARGET…]

What is verified is published to each TARGET, a folder that does not exist yet, or oci://HOST/PATH. SOURCE is a folder, or oci://HOST/PATH:VERSION.
--key is an EC key (P-256) in PEM; KEY_PASSPHRASE decrypts it. --base is a local image to build from instead of the pinned one. --before is the folder
of the release before this one, whose clients gateways go on serving.`;

async function main(work) {
  const text = { type: 'string' };
  const options = { to: { ...text, multiple: true }, verify: text, key: text, 'public-key': text, platforms: text, base: text, before: text };
  const { values, positionals } = parseArgs({ options: { ...options, help: { type: 'boolean' } }, allowPositionals: true });
  if (values.help) return console.log(USAGE);
  const [version] = positionals;
  const { verify: source, to: targets = [] } = values;
  if ((version === undefined) === (source === undefined) || (source === undefined && targets.length === 0)) throw new Error(USAGE);
  const needed = (name) => {
    if (values[name] === undefined) throw new Error(`--${name} is missing.\n\n${USAGE}`);
    return readFileSync(values[name]);
  };
  let folder = join(work, 'release');
  let publicKey;
  if (source === undefined) {
    const key = createPrivateKey({ key: needed('key'), passphrase: process.env.KEY_PASSPHRASE });
    const { build } = await import('./build.mjs');
    publicKey = createPublicKey(key);
    await build(folder, work, { version, key, platforms: values.platforms?.split(','), base: values.base, before: values.before });
  } else {
    publicKey = createPublicKey(needed('public-key'));
    folder = fetchRelease(source, folder);
  }
  const { version: found, files, artefacts } = verify(folder, publicKey);
  console.log(`verified ${source ?? 'what was built'}: version ${found}, ${files} files and ${artefacts} artefacts are as signed`);
  for (const target of targets) {
    publish(folder, target);
    console.log(`published ${target}`);
  }
}

const work = mkdtempSync(join(tmpdir(), 'truckroll-release-'));
try {
  await main(work);
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
} finally {
  rmSync(work, { recursive: true, force: true });
}
