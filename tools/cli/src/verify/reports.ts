import { setTimeout as delay } from 'node:timers/promises';
import { ReportingAdminServiceService, type ReportDifference, type VerifyReportsResponse } from '@truckroll/contract/gen/reporting/v1/admin';
import type { Channel } from '@truckroll/grpc';

export interface WrongReport extends ReportDifference {
  company: string;
}

const BUILDING: ReportDifference = {
  report: 'all',
  period: '',
  group: '',
  difference: 'is being built: run this again when the reports are answered',
};

/** Time in ms to wait for the sums of a company that is new or has changed its time zone; they take seconds. */
const MAX_RETRY_MS = 10_000;
const LOOK_EVERY_MS = 200;

export async function verifyReports(reporting: Channel, company: string, signal?: AbortSignal): Promise<{ sums: number; wrong: WrongReport[] }> {
  for (const startedAt = performance.now(); ; await delay(LOOK_EVERY_MS, undefined, signal && { signal })) {
    const { built, sums, differences } = await verifyOnce(reporting, company, signal);
    if (!built && performance.now() - startedAt < MAX_RETRY_MS) continue;
    return { sums, wrong: (built ? differences : [BUILDING]).map((difference) => ({ company, ...difference })) };
  }
}

async function verifyOnce(reporting: Channel, company: string, signal?: AbortSignal): Promise<Pick<VerifyReportsResponse, 'built' | 'sums' | 'differences'>> {
  let last: Pick<VerifyReportsResponse, 'built' | 'sums' | 'differences'> = { built: false, sums: 0, differences: [] };
  for await (const step of reporting.client(ReportingAdminServiceService).verifyReports({ company_id: company }, signal && { signal })) last = step;
  return last;
}
