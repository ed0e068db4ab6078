// Compares what the chart sets with what components read. The golden files are the chart's output: check:chart verifies that.
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { addressVariable, owners, type Owner } from '@truckroll/contract';
import { ROOT } from '@truckroll/local-stack';
import { stopLimitMs } from '@truckroll/process';
import { chartComponents } from '../../deploy/chart-components.mjs';
import { ADVERTISED_KEEP_ALIVE_MS } from '../../gateway/src/http/server.ts';
import { documentedSql } from '../support/documented-sql.ts';
import { COMPONENTS, chartEnvironments, chartPods, drawSecrets, manifestsIn, read as readAsGiven, type Component } from './environment.ts';

const drawn = drawSecrets();
const CREDENTIALS: Partial<Record<Component, string>> = { gateway: 'GATEWAY_CREDENTIAL', 'webhook-dispatcher': 'DISPATCHER_CREDENTIAL' };

function secret(component: Component, key: string): string {
  if (key === 'CALL_CREDENTIAL') return drawn[CREDENTIALS[component]!]!;
  return drawn[key] ?? { url: 'redis://redis:6379', username: 'someone', password: 'secret' }[key] ?? '';
}

/** Holds what the chart mounts at /etc/truckroll/tls. */
const certificates = mkdtempSync(join(tmpdir(), 'truckroll-chart-tls-'));
beforeAll(() => {
  const request = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=component -keyout tls.key -out tls.crt';
  execFileSync('openssl', request.split(' '), { cwd: certificates, stdio: 'pipe' });
  copyFileSync(join(certificates, 'tls.crt'), join(certificates, 'ca.crt'));
});
afterAll(() => rmSync(certificates, { recursive: true }));

function read<C extends Component>(component: C, environment: Readonly<Record<string, string>>) {
  const values = Object.entries(environment).map(([name, value]) => [name, value.replace('/etc/truckroll/tls', certificates)]);
  return readAsGiven(component, Object.fromEntries(values) as Record<string, string>);
}

test('the chart has the components of the list', () => {
  expect(readFileSync(join(ROOT, 'deploy/helm/truckroll/components.json'), 'utf8')).toBe(chartComponents);
});

const profiles = readdirSync(join(ROOT, 'deploy/helm/golden')).map((file) => basename(file, '.yaml'));

test.each(profiles)('every component starts with the settings of the profile %s, and reads all of them', (profile) => {
  const environments = chartEnvironments(profile, secret);
  expect(environments.map(({ component }) => component).toSorted()).toEqual(COMPONENTS.toSorted());
  for (const { component, names, environment } of environments) {
    // Kubernetes uses the last of two equal names, but tools that compare manifests do not.
    expect({ component, names: names.toSorted() }).toEqual({ component, names: [...new Set(names)].toSorted() });
    const { config, unread } = read(component, environment);
    expect({ component, unread }).toEqual({ component, unread: [] });
    if (component !== 'gateway') expect(config.maxConnectionAgeMs).toBe(30_000);
  }
});

test.each(profiles)('every container of the profile %s complies with PodSecurity restricted, has a read-only file system and no token', (profile) => {
  const pods = chartPods(profile);
  expect(pods.length).toBeGreaterThan(COMPONENTS.length);
  for (const {
    what,
    pod: { automountServiceAccountToken, securityContext, containers, initContainers = [], volumes = [] },
  } of pods) {
    const identity = { runAsNonRoot: true, runAsUser: 10001, runAsGroup: 10001, fsGroup: 10001, seccompProfile: { type: 'RuntimeDefault' } };
    expect({ what, automountServiceAccountToken, securityContext }).toEqual({ what, automountServiceAccountToken: false, securityContext: identity });
    for (const { securityContext: own } of [...initContainers, ...containers]) {
      expect({ what, own }).toEqual({ what, own: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } } });
    }
    for (const volume of volumes) expect(['configMap', 'secret']).toContain(Object.keys(volume).find((key) => key !== 'name'));
  }
});

test.each(profiles)('no component of the profile %s is killed before its shutdown limit', (profile) => {
  for (const { component, environment, graceSeconds } of chartEnvironments(profile, secret)) {
    expect(graceSeconds * 1000).toBeGreaterThan(stopLimitMs(read(component, environment).config));
  }
});

test.each(profiles)('in the profile %s clients reuse or close every kept-alive connection before a gateway closes it', (profile) => {
  const { environment } = chartEnvironments(profile, secret).find(({ component }) => component === 'gateway')!;
  expect(read('gateway', environment).config.drainDelayMs).toBeGreaterThan(ADVERTISED_KEEP_ALIVE_MS);
});

test('addresses name Services at the ports on which components listen', () => {
  const environments = new Map(chartEnvironments('minimal', secret).map(({ component, environment }) => [component, read(component, environment).config]));
  for (const name of owners) {
    const { [`${name}Address` as const]: address } = environments.get('gateway') as unknown as Record<string, string>;
    expect(address).toBe(`truckroll-${name}.truckroll.svc:${environments.get(name)!.port}`);
  }
});

interface ExampleCluster {
  readonly spec: {
    readonly postgresql: { readonly parameters: Readonly<Record<string, string>> };
    readonly bootstrap: { readonly initdb: { readonly owner: string; readonly postInitSQL: readonly string[] } };
    readonly managed: {
      readonly roles: readonly { readonly name: string; readonly login: boolean; readonly replication?: boolean; readonly inRoles?: readonly string[] }[];
    };
  };
}

interface ExampleJob {
  readonly spec: { readonly template: { readonly spec: { readonly containers: readonly [{ readonly env: readonly { name: string; value: string }[] }] } } };
}

interface Policy {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: { readonly ingress?: readonly { readonly from?: readonly { readonly podSelector?: { readonly matchLabels: object } }[] }[] };
}

test.each(owners)("the policies of %s admit the operator's pods of deploy/examples", (name) => {
  const [{ metadata }] = manifestsIn('deploy/examples/operator-pod.yaml') as [{ metadata: { labels: object } }];
  const [{ spec: job }] = manifestsIn('deploy/examples/move-job.yaml') as [{ spec: { template: { metadata: { labels: object } } } }];
  expect(job.template.metadata.labels).toEqual(metadata.labels);
  const policies = (manifestsIn('deploy/helm/golden/minimal.yaml') as Policy[]).filter(({ kind }) => kind === 'NetworkPolicy');
  const { spec } = policies.find((policy) => policy.metadata.name === `truckroll-${name}`)!;
  expect(spec.ingress?.flatMap(({ from = [] }) => from.map(({ podSelector }) => podSelector?.matchLabels))).toContainEqual(metadata.labels);
});

test("the operator's pod of deploy/examples may know the cells as the chart's gateways do", () => {
  const rendered = readFileSync(join(ROOT, 'deploy/helm/cases/cells.diff'), 'utf8');
  const pod = readFileSync(join(ROOT, 'deploy/examples/operator-pod.yaml'), 'utf8');
  const named = [...pod.matchAll(/# - \{name: (CELLS?), value: "?([^"}]*)"?\}/g)].map(
    ([, name, value]) => `- name: ${name}\n  +               value: "${value}"`,
  );
  expect(named).toHaveLength(2);
  expect(named.filter((each) => !rendered.includes(each))).toEqual([]);
});

test('the Job of deploy/examples that moves a company names every service of both cells, at its port', () => {
  const [{ spec }] = manifestsIn('deploy/examples/move-job.yaml') as [ExampleJob];
  const [{ env }] = spec.template.spec.containers;
  const portOf = (owner: Owner): number =>
    read(owner, chartEnvironments('minimal', secret).find(({ component }) => component === owner)!.environment).config.port;
  const expected = owners.flatMap((owner) => [
    { name: addressVariable(owner), value: `truckroll-${owner}:${portOf(owner)}` },
    { name: `WEST_${addressVariable(owner)}`, value: `truckroll-${owner}.west.svc:${portOf(owner)}` },
  ]);
  expect(env.toSorted(byName)).toEqual(expected.toSorted(byName));
});

const byName = (a: { name: string }, b: { name: string }): number => (a.name < b.name ? -1 : 1);

test('the cell of deploy/examples has the roles and rights of a move that docs/how-to names', () => {
  const [{ spec }] = manifestsIn('deploy/examples/cell-cloudnative-pg.yaml') as [ExampleCluster];
  const given: string[] = [...spec.bootstrap.initdb.postInitSQL];
  for (const { name, replication, login, inRoles = [] } of spec.managed.roles) {
    for (const role of inRoles) given.push(`grant ${role} to ${name}`);
    if (replication && login) given.push(`create role ${name}`, `alter role ${name} replication`);
  }
  // The owner may create what it likes in its database.
  if (spec.bootstrap.initdb.owner === 'truckroll_migrate') given.push('grant create on database truckroll to truckroll_migrate');
  const asked = documentedSql('move-a-company', '## Before the first move')
    .split('\n')
    .map((line) => line.replace(/ login replication.*|;.*|--.*/, '').trim())
    .filter((line) => line !== '');
  expect(asked.filter((each) => !given.includes(each))).toEqual([]);
  expect(spec.postgresql.parameters['max_slot_wal_keep_size']).toMatch(/^\d+GB$/);
});

test('rejects variables in env that the chart sets itself', () => {
  const refused = JSON.parse(readFileSync(join(ROOT, 'deploy/helm/truckroll/variables.json'), 'utf8')) as Record<string, string>;
  // Variables that the profiles set through env.
  const given = ['READS_PER_MINUTE'];
  const names = profiles.flatMap((profile) => chartEnvironments(profile, secret).flatMap((each) => each.names));
  expect([...new Set(names)].filter((name) => !Object.hasOwn(refused, name))).toEqual(given);
});
