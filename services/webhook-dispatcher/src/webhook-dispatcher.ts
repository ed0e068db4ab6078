import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { topics } from '@truckroll/contract';
import { DeliveryServiceService } from '@truckroll/contract/gen/integrations/v1/deliveries';
import { createService, openChannel } from '@truckroll/grpc';
import { Consumer, createKafka } from '@truckroll/outbox';
import type { Service } from '@truckroll/process';
import { parseDeniedTargets } from '@truckroll/webhook-targets';
import type { WebhookDispatcherConfig } from './config.ts';
import { publicEvent } from './events/public-event.ts';
import { createConsumer, type EventConsumerOptions } from './events/consume.ts';
import { deadLetters } from './events/dead-letters.ts';
import { Connections } from './send/connections.ts';
import { createDial } from './send/dial.ts';
import { createResolve, type Resolve } from './send/resolve.ts';
import { attempt } from './send/attempt.ts';
import { DueWatch } from './queue/due-watch.ts';
import { Heartbeat } from './queue/heartbeat.ts';
import { createReport } from './log/report.ts';
import { Worker } from './queue/worker.ts';

const NAME = 'webhook-dispatcher';
const EXCHANGE_MS = 15_000;
const ANSWER_BYTES = 64 * 1024;

/** Replacements for the internet and the release, for tests. */
export interface Surroundings {
  readonly resolve?: Resolve;
  /** Certificates to trust instead of the default ones. */
  readonly ca?: string;
  readonly exchangeMs?: number;
  readonly read?: EventConsumerOptions['read'];
}

/** Sends public events to integrators' endpoints. It stores nothing, and connects to integrations, Kafka and the internet. */
export function createWebhookDispatcher(config: WebhookDispatcherConfig, surroundings: Surroundings = {}): Service {
  return createService({
    name: NAME,
    config,
    create({ log, metrics, background, check }) {
      const integrations = openChannel(config.integrationsAddress, { credentials: [config.callCredential], tls: config, metrics });
      const { fanOut, setAside, readDeadLetters, lease, renew, watchDue, report, reportAll } = integrations.client(DeliveryServiceService);
      const { resolve = createResolve(), ca, exchangeMs: timeoutMs = EXCHANGE_MS } = surroundings;
      const policy = { allowHttp: config.allowHttp, allowedTargets: config.allowedTargets, deniedTargets: parseDeniedTargets(config.deniedTargets) };
      const connections = new Connections({ dial: createDial({ policy, resolve, ca }), mostPerAddress: config.maxConnectionsPerAddress });
      const exchanges = { connections, policy, timeoutMs, bodyLimit: ANSWER_BYTES };
      const workerId = `${hostname()}/${randomUUID()}`;
      const watch = new DueWatch({ workerId, watchDue, log });
      const worker = new Worker({
        workerId,
        lease,
        log,
        metrics,
        report: createReport({ report, reportAll, log }),
        attempt: (delivery, charge) => attempt(exchanges, delivery, charge),
        maxInFlight: config.maxInFlight,
        maxInFlightPerEndpoint: config.maxInFlightPerEndpoint,
        subscribed: () => watch.connected,
      });
      background({ name: 'integrations', start: async () => undefined, stop: async () => integrations.close() });
      background({ name: 'connections', start: async () => undefined, stop: () => connections.close() });
      const { handle, resume } = createConsumer({
        fanOut,
        setAside,
        read: surroundings.read ?? publicEvent,
        store: (intake) => worker.store(intake),
        log,
        metrics,
      });
      background(deadLetters({ read: readDeadLetters, resume, log }));
      const topic = topics.serviceRequests;
      // All partitions concurrently, so that events that arrive together are stored together.
      const kafka = createKafka(NAME, config, log);
      const consumer = new Consumer({ kafka, group: NAME, topics: [topic], concurrency: topic.partitions, handle, log, metrics });
      background(consumer);
      background(new Heartbeat({ workerId, renew, log }));
      const noticed = (restarted: readonly string[]): void => {
        worker.wake(restarted);
        // A freeze sends one, and waits for this.
        void consumer.commit();
      };
      background({ name: 'webhook notices', start: async () => watch.start(noticed), stop: () => watch.stop() });
      // Started last and therefore stopped first, so that no delivery is leased while stopping.
      background(worker);
      check('integrations', () => worker.check());
    },
  });
}
