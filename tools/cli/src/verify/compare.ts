// Compares owners' records with reporting's read models: page by page, then the read models that no owner has.
import { randomUUID } from 'node:crypto';
import { codec, formatInstant, resource } from '@truckroll/contract';
import { ReportingAdminServiceService } from '@truckroll/contract/gen/reporting/v1/admin';
import type { Channel } from '@truckroll/grpc';
import { shareOf, type ListedRecord } from '../share.ts';

export const READ_MODELS = ['jobs', 'job-assignments', 'invoices', 'payments', 'refunds'] as const;

export interface Difference {
  company: string;
  path: string;
  id: string;
  reason: 'missing or different' | 'its owner does not have it';
}

interface Page {
  /** `created_at` is in microseconds since 1970. */
  data: { id: string; created_at: number }[];
  next: Uint8Array;
}

const PAGE = 100;

export async function compareReadModel(
  channels: { owner: Channel; reporting: Channel },
  company: { id: string; timezone: string },
  path: (typeof READ_MODELS)[number],
  report: (count: number, share: number) => void = () => undefined,
): Promise<{ compared: number; differences: Difference[] }> {
  const reporting = channels.reporting.client(ReportingAdminServiceService);
  const { record, order } = resource(path);
  // All pages have one request id, so that the audit trail gets one entry.
  const requestId = randomUUID();
  let first: Page['data'][number] | undefined;
  const differences: Difference[] = [];
  const owned = new Set<string>();
  for (let after: Uint8Array = new Uint8Array(); ; ) {
    const page = await ownersPage(channels.owner, company, path, after, requestId);
    const records = page.data.map((item) => Buffer.from(codec(record.typeName).encode(item).finish()));
    if (records.length > 0) {
      const { differing_ids } = await reporting.compareCopies({ company_id: company.id, path, records }, { requestId });
      differences.push(...differing_ids.map((id) => ({ company: company.id, path, id, reason: 'missing or different' as const })));
    }
    for (const { id } of page.data) owned.add(id);
    first ??= page.data[0];
    report(owned.size, shareOf(order, placed(first), placed(page.data.at(-1))) ?? 0);
    if (page.next.length === 0) break;
    after = page.next;
  }
  for (let after = ''; ; ) {
    const { ids } = await reporting.listCopyIds({ company_id: company.id, path, after }, { requestId });
    const last = ids.at(-1);
    if (last === undefined) break;
    const extra = ids.filter((id) => !owned.has(id));
    differences.push(...extra.map((id) => ({ company: company.id, path, id, reason: 'its owner does not have it' as const })));
    after = last;
  }
  return { compared: owned.size, differences };
}

function placed(record: Page['data'][number] | undefined): ListedRecord | undefined {
  return record && { id: record.id, created_at: formatInstant(record.created_at) };
}

async function ownersPage(owner: Channel, company: { id: string; timezone: string }, path: string, after: Uint8Array, requestId: string): Promise<Page> {
  const { list } = resource(path);
  const request = codec(list.request.typeName);
  const empty = request.decode(new Uint8Array()) as object;
  const collection = { company_id: company.id, time_zone: company.timezone, limit: PAGE, after, ids: [] };
  const bytes = await owner.call(list.rpc, Buffer.from(request.encode({ ...empty, collection }).finish()), { requestId });
  return codec(list.response.typeName).decode(bytes) as Page;
}
