// Runs kubectl and helm. Functions return their output, or throw with their error text.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { until } from '@truckroll/testing/until';

/** Poll interval in ms. Each poll starts kubectl, which costs time on a machine that may also run the cluster. */
const EVERY_MS = 1000;
const AT_MOST_MS = 240_000;

export function untilInCluster<T>(what: string, look: () => Promise<T>, isRight?: (value: T) => boolean): Promise<T> {
  return until(what, look, isRight, { atMostMs: AT_MOST_MS, everyMs: EVERY_MS });
}

export type Manifest = Record<string, unknown> & { kind: string };

export class Cluster {
  readonly namespace: string;
  readonly #helm: string;
  readonly #forwards = new Set<ChildProcess>();

  /** `helm` is the program's path; the cluster is KUBECONFIG's. */
  constructor(namespace: string, helm: string) {
    this.namespace = namespace;
    this.#helm = helm;
  }

  kubectl(...args: string[]): Promise<string> {
    return output('kubectl', ['--namespace', this.namespace, ...args]);
  }

  helm(...args: string[]): Promise<string> {
    return output(this.#helm, ['--namespace', this.namespace, ...args]);
  }

  async apply(...manifests: Manifest[]): Promise<void> {
    const items = manifests.map((manifest) => ({ apiVersion: 'v1', ...manifest }));
    await output('kubectl', ['--namespace', this.namespace, 'apply', '--filename', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
  }

  /** Forwards a port of a Service or pod to this machine, until `leave` or until the chosen pod ends. Resolves to the address. */
  async forward(target: string, port: number): Promise<string> {
    const child = spawn('kubectl', ['--namespace', this.namespace, 'port-forward', target, `:${port}`], { stdio: ['ignore', 'pipe', 'inherit'] });
    this.#forwards.add(child);
    for await (const line of createInterface({ input: child.stdout })) {
      const [, local] = /^Forwarding from (127\.0\.0\.1:\d+) /.exec(line) ?? [];
      if (local === undefined) continue;
      child.stdout.resume();
      return local;
    }
    throw new Error(`kubectl could not forward port ${port} of ${target}`);
  }

  async pods(component: string): Promise<string[]> {
    const { items } = JSON.parse(await this.kubectl('get', 'pods', '--selector', `app.kubernetes.io/component=${component}`, '--output', 'json')) as {
      items: { metadata: { name: string; deletionTimestamp?: string }; status: { conditions?: { type: string; status: string }[] } }[];
    };
    const ready = items.filter(
      ({ metadata, status }) =>
        metadata.deletionTimestamp === undefined && status.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True'),
    );
    return ready.map(({ metadata }) => metadata.name);
  }

  ask(pod: string, port: number, path: string): Promise<string> {
    return output('kubectl', ['get', '--raw', `/api/v1/namespaces/${this.namespace}/pods/${pod}:${port}/proxy${path}`]);
  }

  async create(path: string, body: Manifest): Promise<void> {
    await output('kubectl', ['create', '--raw', path, '--filename', '-'], JSON.stringify(body));
  }

  async leave(): Promise<void> {
    await Promise.all(
      [...this.#forwards].map(async (child) => {
        this.#forwards.delete(child);
        if (child.exitCode !== null || child.signalCode !== null) return;
        child.kill('SIGTERM');
        await once(child, 'exit');
      }),
    );
  }
}

async function output(command: string, args: readonly string[], input = ''): Promise<string> {
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'] });
  let said = '';
  let complained = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (complained += text));
  child.stdin.on('error', () => undefined).end(input);
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${code}: ${complained.trim() || said.trim()}`);
  return said;
}
