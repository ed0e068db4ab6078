// Lists what artefacts contain, in CycloneDX. pnpm lists the packages of the lockfile: a scanner of images finds none of them in bundles.
import { spawnSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** The packages that a member of the workspace, given by its folder, needs to run. pnpm prints them in another order each time. */
export function packagesSbom({ pnpm, source, createdAt, component, member }) {
  const options = ['sbom', '--sbom-format', 'cyclonedx', '--prod', '--filter', `./${member}`];
  const { status, stdout, stderr } = spawnSync('node', [pnpm, ...options], { cwd: source, encoding: 'utf8', maxBuffer: 1e8 });
  if (status !== 0) throw new Error(`pnpm ${options.join(' ')} failed: ${stdout}${stderr}`);
  const { serialNumber, ...sbom } = JSON.parse(stdout);
  const components = sbom.components.toSorted((one, other) => (one['bom-ref'] < other['bom-ref'] ? -1 : 1));
  const { component: root } = sbom.metadata;
  return { ...sbom, components, metadata: { ...sbom.metadata, timestamp: createdAt, component: { ...root, ...component } } };
}

/** Adds Node and the Debian packages whose libraries the image has, for each platform. */
export function imageSbom(sbom, bases) {
  const parts = bases.flatMap(({ node, debian }) => [
    { type: 'application', name: 'node', version: node.slice(1), purl: `pkg:generic/node@${node.slice(1)}` },
    ...debian.map((line) => {
      const [name, version, architecture] = line.split(' ');
      return { type: 'library', name, version, purl: `pkg:deb/debian/${name}@${encodeURIComponent(version)}?arch=${architecture}&distro=debian-12` };
    }),
  ]);
  const distinct = new Map(parts.map((part) => [part.purl, { ...part, 'bom-ref': part.purl }]));
  return { ...sbom, components: [...sbom.components, ...distinct.values()] };
}

/** The Python client contains nothing but its own code: pip chooses the versions of what it needs, within these limits. */
export function pythonSbom({ version, createdAt, project }) {
  const [, needed] = /^dependencies = (\[.*\])$/m.exec(readFileSync(join(project, 'pyproject.toml'), 'utf8'));
  const components = JSON.parse(needed).map((each) => {
    const [, name, limits] = /^([\w-]+)(.*)$/.exec(each);
    return { type: 'library', name, scope: 'required', purl: `pkg:pypi/${name}`, properties: [{ name: 'truckroll:versions', value: limits }] };
  });
  return { ...documentOf('client-python', version, createdAt), components };
}

const documentOf = (name, version, createdAt) => ({
  bomFormat: 'CycloneDX',
  specVersion: '1.6',
  version: 1,
  metadata: { timestamp: createdAt, component: { type: 'application', name, version } },
});

/** A chart contains nothing but the images that it starts. */
export function chartSbom({ version, createdAt, images }) {
  return {
    ...documentOf('charts/truckroll', version, createdAt),
    components: images.map(({ component }) => ({ type: 'container', name: component, version, purl: `pkg:oci/${component}?tag=${version}` })),
  };
}

/** Prints known vulnerabilities, or why they were not looked up. What is found depends on the day, so the release does not contain it. */
export function scan({ pnpm, source, sboms }) {
  const say = (what, text) => console.log(`vulnerabilities of ${what}: ${text}`);
  const audit = spawnSync('node', [pnpm, 'audit', '--prod'], { cwd: source, encoding: 'utf8' });
  const printed = `${audit.stdout}${audit.stderr}`.trim();
  const answered = audit.status === 0 || /vulnerabilities found/.test(printed);
  say('npm packages', answered ? printed : `skipped, the registry has no list of them: ${printed.split('\n')[0]}`);
  if (spawnSync('grype', ['db', 'status']).status !== 0) return say('everything else', 'skipped, there is no grype with a database on the PATH');
  for (const sbom of readdirSync(sboms)) say(sbom, spawnSync('grype', ['--quiet', `sbom:${join(sboms, sbom)}`], { encoding: 'utf8' }).stdout.trim());
}
