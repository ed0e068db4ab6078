// A steady stream of service requests: each is recorded on schedule, whether earlier ones were answered or not.
import type { IntakeServiceService } from '@truckroll/contract/gen/scheduling/v1/intake';
import type { Callers } from '@truckroll/grpc';
import type { Endpoint } from './endpoints.ts';
import { newRequest } from './intake.ts';
import type { Sinks } from './sinks.ts';

export interface Latency {
  /** Milliseconds from an event's timestamp, which precedes its commit, to its receipt. */
  readonly p50: number;
  readonly p99: number;
}

export interface Stream {
  readonly intake: Callers<typeof IntakeServiceService>;
  readonly sinks: Sinks;
  readonly measured: readonly Endpoint[];
  readonly others: readonly Endpoint[];
  /** Events a second over all endpoints, evenly distributed. */
  readonly rate: number;
  readonly seconds: number;
}

/** Resolves when the measured endpoints have received everything. */
export async function measureStream({ intake, sinks, measured, others, rate, seconds }: Stream): Promise<Latency> {
  sinks.take();
  const endpoints = mixed(measured, others);
  const count = Math.round(rate * seconds);
  const calls: Promise<unknown>[] = [];
  const failures: Error[] = [];
  let expected = 0;
  const startedAt = performance.now();
  for (let i = 0; i < count && failures.length === 0; i++) {
    const wait = startedAt + (i / rate) * 1000 - performance.now();
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
    const { companyId: company_id, isMeasured } = endpoints[i % endpoints.length] as Mixed;
    if (isMeasured) expected += 1;
    calls.push(intake.recordServiceRequest(newRequest(company_id)).catch((error: Error) => void failures.push(error)));
  }
  await Promise.all(calls);
  if (failures[0] !== undefined) throw failures[0];
  await sinks.until(expected);
  const sorted = sinks.take().toSorted((a, b) => a - b);
  const at = (share: number): number => (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] as number) / 1000;
  return { p50: at(0.5), p99: at(0.99) };
}

type Mixed = Endpoint & { isMeasured: boolean };

/** All endpoints in turn, with the others spread evenly among the measured ones. */
function mixed(measured: readonly Endpoint[], others: readonly Endpoint[]): Mixed[] {
  const placed = (endpoints: readonly Endpoint[], isMeasured: boolean) =>
    endpoints.map((endpoint, i) => ({ ...endpoint, isMeasured, place: (i + 0.5) / endpoints.length }));
  return [...placed(measured, true), ...placed(others, false)].toSorted((a, b) => a.place - b.place);
}
