import { randomUUID } from 'node:crypto';
import type { IntakeServiceService, RecordServiceRequestRequest } from '@truckroll/contract/gen/scheduling/v1/intake';
import { ServiceRequestChannel } from '@truckroll/contract/gen/scheduling/v1/service_requests';
import type { Callers } from '@truckroll/grpc';
import type { Endpoint } from './endpoints.ts';
import type { Sinks } from './sinks.ts';

/** Concurrent calls; each caller starts its next call after the previous answer. */
const CALLERS = 64;

export function newRequest(company_id: string): RecordServiceRequestRequest {
  return {
    company_id,
    id: randomUUID(),
    channel: ServiceRequestChannel.WEB,
    summary: 'AC not cooling',
    contact_name: 'Marisol Núñez',
    contact_phone: '512 555 0142',
  };
}

/** Calls a second, to all endpoints' companies in turn. Resolves when all webhooks have been received. */
export async function measureIntake(
  intake: Callers<typeof IntakeServiceService>,
  endpoints: readonly Endpoint[],
  sinks: Sinks,
  count: number,
): Promise<number> {
  sinks.take();
  let next = 0;
  const caller = async (): Promise<void> => {
    while (next < count) await intake.recordServiceRequest(newRequest((endpoints[next++ % endpoints.length] as Endpoint).companyId));
  };
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: CALLERS }, caller));
  const perSecond = count / ((performance.now() - startedAt) / 1000);
  await sinks.until(count);
  return perSecond;
}
