// kubectl and helm as functions: what they print, or an error with what they said.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { until } from '../support/until.ts';

/** Each question starts kubectl, and is work for a machine that may be the cluster's too. */
const EVERY_MS = 1000;
/** For a pod to start or to drain on a machine that is busy. */
const AT_MOST_MS = 240_000;

/** As `until`, with the patience that a cluster needs. */
export function eventually<T>(what: string, look: () => Promise<T>, isRight?: (value: T) => boolean): Promise<T> {
  return until(what, look, isRight, { atMostMs: AT_MOST_MS, everyMs: EVERY_MS });
}

/** Objects as they are applied; nothing of them is looked at here. */
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

  /** The address on this machine of a port of a Service or pod, until `leave` or the end of the pod that was chosen. */
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

  /** Names of a component's pods that are ready. */
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

  /** What a pod answers over HTTP, by way of the API server. */
  ask(pod: string, port: number, path: string): Promise<string> {
    return output('kubectl', ['get', '--raw', `/api/v1/namespaces/${this.namespace}/pods/${pod}:${port}/proxy${path}`]);
  }

  /** Posts to a path of the API that kubectl has no command for. */
  async create(path: string, body: Manifest): Promise<void> {
    await output('kubectl', ['create', '--raw', path, '--filename', '-'], JSON.stringify(body));
  }

  /** Ends what was forwarded. */
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
