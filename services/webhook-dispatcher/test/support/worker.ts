import { randomUUID } from 'node:crypto';
import type { LeasedDelivery, ReportRequest } from '@truckroll/contract/gen/integrations/v1/deliveries';
import { createMetrics, silentLog } from '@truckroll/telemetry';
import { Worker, type WorkerOptions } from '../../src/queue/worker.ts';

export const leased = (endpointId: string): LeasedDelivery => ({
  delivery_id: randomUUID(),
  lease_token: randomUUID(),
  lease_expires_at: (Date.now() + 60_000) * 1000,
  company_id: randomUUID(),
  endpoint_id: endpointId,
  url: 'https://receiver.test/',
  secrets: [],
  event_id: randomUUID(),
  event_type: 'x',
  body: Buffer.alloc(0),
  attempt: 1,
  probe: false,
  headers: [],
});
export const reported = (delivery: LeasedDelivery, status: number) =>
  ({ delivery_id: delivery.delivery_id, response_status: status, error: 'ATTEMPT_ERROR_UNSPECIFIED', error_message: '' }) as ReportRequest;
export const stored = {
  status: 'DELIVERY_STATUS_SUCCEEDED',
  next_attempt_at: null,
  endpoint_disabled: false,
  lease_lost: false,
  more_due: false,
  unknown: false,
} as const;

/** A worker whose lease calls return the batches given by the test, one after another. `send` gives it deliveries with events. */
export function harness(options: Partial<WorkerOptions>) {
  const batches: LeasedDelivery[][] = [];
  const reports: ReportRequest[] = [];
  let leases = 0;
  const worker = new Worker({
    workerId: 'test',
    maxInFlight: 10,
    maxInFlightPerEndpoint: 10,
    subscribed: () => false,
    log: silentLog,
    metrics: createMetrics('test'),
    lease: async () => {
      leases += 1;
      return { deliveries: batches.shift() ?? [], next_due_at: null };
    },
    report: async (report) => {
      reports.push(report);
      return stored;
    },
    attempt: async (delivery) => reported(delivery, 200),
    ...options,
  });
  const send = (...deliveries: LeasedDelivery[]) => worker.store({ events: 1, waits: false, store: async () => ({ pending: deliveries.length, deliveries }) });
  return { worker, batches, reports, leases: () => leases, send };
}
