import { ServiceRequestChannel } from '@truckroll/contract/gen/scheduling/v1/service_requests';
import { randomUUID } from 'node:crypto';
import type { IntakeServiceService, RecordServiceRequestRequest } from '@truckroll/contract/gen/scheduling/v1/intake';
import type { Callers } from '@truckroll/grpc';
import { latencyOf, onSchedule, type Latency } from '../measure/latency.ts';
import type { Endpoint } from './system.ts';
import type { Sinks } from './sinks.ts';

/** Concurrent calls; each caller starts its next call after the previous answer. */
const CALLERS = 64;

/** What every service request of the benchmarks says. */
export const REQUEST = {
  channel: ServiceRequestChannel.WEB,
  summary: 'AC not cooling',
  contact_name: 'Marisol Núñez',
  contact_phone: '512 555 0142',
};

export function newRequest(company_id: string): RecordServiceRequestRequest {
  return { company_id, id: randomUUID(), ...REQUEST };
}

/** Calls a second, to all endpoints' companies in turn. Resolves when all webhooks have been received. */
export async function measureIntake(intake: Intake, endpoints: readonly Endpoint[], sinks: Sinks, count: number): Promise<number> {
  sinks.take();
  const startedAt = performance.now();
  await record(intake, endpoints, count);
  const perSecond = count / ((performance.now() - startedAt) / 1000);
  await sinks.until(count);
  return perSecond;
}

/** Resolves when all service requests are recorded. */
export async function record<E extends Pick<Endpoint, 'companyId'>>(
  intake: Intake,
  endpoints: readonly E[],
  count: number,
  requestFor = ({ companyId }: E) => newRequest(companyId),
): Promise<void> {
  let next = 0;
  const caller = async (): Promise<void> => {
    while (next < count) await intake.recordServiceRequest(requestFor(endpoints[next++ % endpoints.length] as E));
  };
  await Promise.all(Array.from({ length: CALLERS }, caller));
}

type Intake = Callers<typeof IntakeServiceService>;

interface Stream {
  readonly intake: Intake;
  readonly sinks: Sinks;
  readonly measured: readonly Endpoint[];
  readonly others: readonly Endpoint[];
  /** Events a second over all endpoints, evenly distributed. */
  readonly rate: number;
  readonly seconds: number;
}

/** Latency from an event's timestamp, which precedes its commit, to its receipt. Resolves when the measured endpoints have received everything. */
export async function measureStream({ intake, sinks, measured, others, rate, seconds }: Stream): Promise<Latency> {
  sinks.take();
  // All endpoints in turn, with the others spread evenly among the measured ones.
  const placed = (endpoints: readonly Endpoint[], isMeasured: boolean) =>
    endpoints.map(({ companyId }, i) => ({ companyId, isMeasured, place: (i + 0.5) / endpoints.length }));
  const all = [...placed(measured, true), ...placed(others, false)].toSorted((a, b) => a.place - b.place);
  let expected = 0;
  await onSchedule(rate, seconds, (number) => {
    const { companyId, isMeasured } = all[number % all.length] as (typeof all)[number];
    if (isMeasured) expected += 1;
    return intake.recordServiceRequest(newRequest(companyId));
  });
  await sinks.until(expected);
  return latencyOf(sinks.take().map((micros) => micros / 1000));
}
