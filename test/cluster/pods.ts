// Pods of the test's own: the sink of webhooks, the wires to Redis and Kafka, the prober. Each runs one script in the
// image of the command line, within PodSecurity restricted.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Manifest } from './kubernetes.ts';

export const SINK_PORT = 8080;
/** Where the wires are told to cut and restore, and where they stand for Redis and the first broker of Kafka. */
export const WIRES = { control: 8080, redis: 6379, kafka: 9092 } as const;

/** Without these they would be last in everything on a node that is busy, and what passes by them with them. */
const RESOURCES = { requests: { cpu: '200m', memory: '128Mi' } };

/** `script` is a file beside this one; the pod is ready when it listens at `port`. */
export function pod(name: string, image: string, script: string, environment: Record<string, string> = {}, port?: number): Manifest {
  return {
    kind: 'Pod',
    metadata: { name },
    spec: {
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
      containers: [
        {
          name,
          image,
          imagePullPolicy: 'IfNotPresent',
          resources: RESOURCES,
          command: ['node', '--input-type=module', '--eval', readFileSync(join(import.meta.dirname, 'pods', script), 'utf8')],
          env: [
            { name: 'ADDRESS', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
            ...Object.entries(environment).map(([key, value]) => ({ name: key, value })),
          ],
          securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
          ...(port === undefined ? {} : { readinessProbe: { tcpSocket: { port }, periodSeconds: 1 } }),
        },
      ],
    },
  };
}
