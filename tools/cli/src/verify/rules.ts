import { RecordCheckServiceService, type BrokenRule } from '@truckroll/contract/gen/records/v1/record_checks';
import type { Channel } from '@truckroll/grpc';

export interface Broken extends BrokenRule {
  company: string;
  path: string;
}

export async function checkRules(
  owner: Channel,
  company: string,
  signal: AbortSignal,
  report: (count: number) => void,
): Promise<{ checked: number; broken: Broken[] }> {
  const found: Broken[] = [];
  let total = 0;
  for await (const { path, checked, broken } of owner.client(RecordCheckServiceService).checkRecords({ company_id: company }, { signal })) {
    total += checked;
    report(total);
    found.push(...broken.map((rule) => ({ company, path, ...rule })));
  }
  return { checked: total, broken: found };
}
