// What components read of an environment, and the environments that deploy/ gives them.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '@truckroll/local-stack';
import { parse, parseAllDocuments } from 'yaml';
import { gatewayConfig } from '../../gateway/src/config.ts';
import { billingConfig } from '../../services/billing/src/config.ts';
import { integrationsConfig } from '../../services/integrations/src/config.ts';
import { reportingConfig } from '../../services/reporting/src/config.ts';
import { schedulingConfig } from '../../services/scheduling/src/config.ts';
import { webhookDispatcherConfig } from '../../services/webhook-dispatcher/src/config.ts';

type Environment = Readonly<Record<string, string>>;

/** By the name of their image. */
export const CONFIGS = {
  gateway: gatewayConfig,
  scheduling: schedulingConfig,
  billing: billingConfig,
  reporting: reportingConfig,
  integrations: integrationsConfig,
  'webhook-dispatcher': webhookDispatcherConfig,
} as const;
export type Component = keyof typeof CONFIGS;
export const COMPONENTS = Object.keys(CONFIGS) as Component[];

/** Read by Node, by the client of PostgreSQL, by OpenTelemetry's packages, and by Kubernetes for another variable. */
const OTHERS = ['NODE_OPTIONS', 'NODE_EXTRA_CA_CERTS', 'PGUSER', 'PGPASSWORD', 'OTEL_RESOURCE_ATTRIBUTES', 'POD_NAME'];

/** What the component makes of an environment, and the variables in it that it does not read. Throws ConfigError. */
export function read<C extends Component>(component: C, environment: Environment): { config: ReturnType<(typeof CONFIGS)[C]>; unread: string[] } {
  const asked = new Set(OTHERS);
  const watched = new Proxy(environment, { get: (target, name: string) => (asked.add(name), target[name]) });
  const config = CONFIGS[component](watched) as ReturnType<(typeof CONFIGS)[C]>;
  return { config, unread: Object.keys(environment).filter((name) => !asked.has(name)) };
}

/** Secrets as deploy/compose-secrets draws them, by the names in compose.yaml. */
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

/** deploy/compose.yaml with these values for its variables, which are checked as compose does. */
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
  /** A key of a Secret, or a field of the pod. */
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

export interface Told {
  readonly component: Component;
  readonly names: string[];
  readonly environment: Environment;
  /** From SIGTERM until the kubelet ends the process. Seconds. */
  readonly graceSeconds: number;
}

function manifestsOf(profile: string): Manifest[] {
  return parseAllDocuments(readFileSync(join(ROOT, `deploy/helm/golden/${profile}.yaml`), 'utf8')).map((each) => each.toJSON() as Manifest);
}

/** Every pod that the chart makes in a profile: of Deployments, of the migration, of `helm test`. */
export function chartPods(profile: string): { what: string; pod: PodSpec }[] {
  const pods = manifestsOf(profile).filter(({ kind }) => ['Deployment', 'Job', 'Pod'].includes(kind));
  return pods.map(({ kind, metadata, spec }) => ({ what: `${kind} ${metadata.name}`, pod: kind === 'Pod' ? spec : spec.template.spec }));
}

/** What the chart gives each component in a profile of deploy/helm/golden; `secrets` by key of a Secret. */
export function chartEnvironments(profile: string, secrets: (component: Component, key: string) => string): Told[] {
  return manifestsOf(profile)
    .filter(({ kind }) => kind === 'Deployment')
    .map(({ spec }) => {
      const {
        terminationGracePeriodSeconds,
        containers: [container],
      } = spec.template.spec;
      const { env, image, lifecycle } = container!;
      const component = /\/([a-z-]+):/.exec(image)![1] as Component;
      const given = env.filter(({ valueFrom }) => valueFrom?.secretKeyRef?.optional !== true);
      const valueOf = ({ value, valueFrom }: Variable): string =>
        value ?? (valueFrom?.secretKeyRef === undefined ? 'a field' : secrets(component, valueFrom.secretKeyRef.key));
      const environment = Object.fromEntries(given.map((variable) => [variable.name, valueOf(variable)]));
      return { component, names: env.map(({ name }) => name), environment, graceSeconds: terminationGracePeriodSeconds - lifecycle.preStop.sleep.seconds };
    });
}
