// Each pod runs one script in the command line's image, under PodSecurity `restricted`.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Manifest } from './kubernetes.ts';

export const SINK_PORT = 8080;
export const WIRES = { control: 8080, redis: 6379, kafka: 9092 } as const;

/** Without requests, these pods would get the least CPU on a busy node, which would slow everything that passes through them. */
const RESOURCES = { requests: { cpu: '200m', memory: '128Mi' } };

/** `script` is a file in the folder `pods`; the pod is ready when it listens on `port`. */
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
