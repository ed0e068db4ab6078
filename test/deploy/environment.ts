import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { components, type ComponentName } from '@truckroll/contract';
import { ROOT } from '@truckroll/local-stack';
import { parse, parseAllDocuments } from 'yaml';
import { CONFIGS } from '../support/components.ts';

type Environment = Readonly<Record<string, string>>;

export type Component = ComponentName;
export const COMPONENTS: readonly Component[] = components.map(({ name }) => name);

/** Variables read by Node, PostgreSQL's client, OpenTelemetry's packages, or Kubernetes itself. */
const OTHERS = ['NODE_OPTIONS', 'NODE_EXTRA_CA_CERTS', 'PGUSER', 'PGPASSWORD', 'OTEL_RESOURCE_ATTRIBUTES', 'POD_NAME'];

/** A component's configuration from an environment, and the variables in it that it does not read. Throws ConfigError. */
export function read<C extends Component>(component: C, environment: Environment): { config: ReturnType<(typeof CONFIGS)[C]>; unread: string[] } {
  const asked = new Set(OTHERS);
  const watched = new Proxy(environment, { get: (target, name: string) => (asked.add(name), target[name]) });
  const config = CONFIGS[component](watched) as ReturnType<(typeof CONFIGS)[C]>;
  return { config, unread: Object.keys(environment).filter((name) => !asked.has(name)) };
}

export function drawSecrets(): Environment {
  const { stdout, stderr, status } = spawnSync(join(ROOT, 'deploy/compose-secrets'), { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  return Object.fromEntries(
    stdout
      .trim()
      .split('\n')
      .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  );
}

export interface ComposeService {
  readonly image: string;
  readonly environment?: Environment;
  readonly stop_grace_period?: string;
  readonly read_only?: boolean;
}

export function compose(variables: Environment): { services: Record<string, ComposeService> } {
  const text = readFileSync(join(ROOT, 'deploy/compose.yaml'), 'utf8').replace(/^ *#.*$/gm, '');
  const filled = text.replace(/\$\{(\w+)(?::([-?])([^}]*))?\}/g, (_, name: string, kind: string | undefined, rest: string) => {
    const value = variables[name] ?? (kind === '-' ? rest : undefined);
    if (value === undefined) throw new Error(`compose.yaml wants ${name}`);
    return value;
  });
  return parse(filled, { merge: true }) as ReturnType<typeof compose>;
}

interface Variable {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: { readonly secretKeyRef?: { readonly key: string; readonly optional?: boolean } };
}

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: PodSpec & { readonly template: { readonly spec: PodSpec } };
}

export interface PodSpec {
  readonly automountServiceAccountToken: boolean;
  readonly terminationGracePeriodSeconds: number;
  readonly securityContext: unknown;
  readonly volumes?: readonly Record<string, unknown>[];
  readonly initContainers?: readonly Container[];
  readonly containers: readonly Container[];
}

interface Container {
  readonly env: readonly Variable[];
  readonly image: string;
  readonly lifecycle: { readonly preStop: { readonly sleep: { readonly seconds: number } } };
  readonly securityContext: unknown;
}

export interface ChartEnvironment {
  readonly component: Component;
  readonly names: string[];
  readonly environment: Environment;
  /** Seconds from SIGTERM until the kubelet kills the process. */
  readonly graceSeconds: number;
}

function manifestsOf(profile: string): Manifest[] {
  return manifestsIn(`deploy/helm/golden/${profile}.yaml`) as Manifest[];
}

export function manifestsIn(path: string): unknown[] {
  return parseAllDocuments(readFileSync(join(ROOT, path), 'utf8')).map((each) => each.toJSON() as unknown);
}

export function chartPods(profile: string): { what: string; pod: PodSpec }[] {
  const pods = manifestsOf(profile).filter(({ kind }) => ['Deployment', 'Job', 'Pod'].includes(kind));
  return pods.map(({ kind, metadata, spec }) => ({ what: `${kind} ${metadata.name}`, pod: kind === 'Pod' ? spec : spec.template.spec }));
}

/** Each component's environment in a profile of deploy/helm/golden. `secrets` returns the value of a Secret's key. */
export function chartEnvironments(profile: string, secrets: (component: Component, key: string) => string): ChartEnvironment[] {
  return manifestsOf(profile)
    .filter(({ kind }) => kind === 'Deployment')
    .map(({ spec }) => {
      const {
        terminationGracePeriodSeconds,
        containers: [container],
      } = spec.template.spec;
      const { env, image, lifecycle } = container!;
      const component = /\/([a-z-]+)(?::[\w.-]+)?(?:@sha256:[0-9a-f]{64})?$/.exec(image)![1] as Component;
      const given = env.filter(({ valueFrom }) => valueFrom?.secretKeyRef?.optional !== true);
      const valueOf = ({ value, valueFrom }: Variable): string =>
        value ?? (valueFrom?.secretKeyRef === undefined ? 'a field' : secrets(component, valueFrom.secretKeyRef.key));
      const environment = Object.fromEntries(given.map((variable) => [variable.name, valueOf(variable)]));
      return { component, names: env.map(({ name }) => name), environment, graceSeconds: terminationGracePeriodSeconds - lifecycle.preStop.sleep.seconds };
    });
}
