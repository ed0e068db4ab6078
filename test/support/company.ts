import { randomBytes } from 'node:crypto';
import { CompanyAdminServiceService, KeyAdminServiceService, UserAdminServiceService } from '@truckroll/contract/gen/integrations/v1/admin';
import { ImportServiceService } from '@truckroll/contract/gen/records/v1/records';
import type { Channel } from '@truckroll/grpc';

export interface TestCompany {
  id: string;
  userId: string;
  apiKey: string;
  timezone: string;
}

export interface ImportReport {
  created: number;
  changed: number;
  unchanged: number;
  problems: { line: number; field: string; code: string; message: string }[];
}

const BATCH = 200;

export async function createCompany(integrations: Channel, timezone: string): Promise<TestCompany> {
  const { company } = await integrations.client(CompanyAdminServiceService).createCompany({ name: 'Test Heating & Air', timezone });
  const id = company?.id as string;
  const email = `${randomBytes(6).toString('hex')}@example.com`;
  const { user } = await integrations.client(UserAdminServiceService).createUser({ company_id: id, email, first_name: 'Ada', last_name: 'Ortiz' });
  const userId = user?.id as string;
  // Tests read more per minute than clients may, so their limits are raised, but never switched off.
  const limits = { reads_per_minute: 10_000_000, reports_per_minute: 10_000_000, writes_per_minute: 10_000_000 };
  const created = await integrations.client(KeyAdminServiceService).createKey({ company_id: id, user_id: userId, name: 'tests', limits });
  return { id, userId, apiKey: created.value, timezone };
}

export async function importRecords(owner: Channel, companyId: string, path: string, records: Iterable<unknown>): Promise<ImportReport> {
  async function* batches() {
    let lines: Buffer[] = [];
    let first = 1;
    for (const record of records) {
      lines.push(Buffer.from(typeof record === 'string' ? record : JSON.stringify(record)));
      if (lines.length < BATCH) continue;
      yield { company_id: companyId, path, lines, first_line: first };
      first += lines.length;
      lines = [];
    }
    if (lines.length > 0) yield { company_id: companyId, path, lines, first_line: first };
  }
  const report: ImportReport = { created: 0, changed: 0, unchanged: 0, problems: [] };
  for await (const answer of owner.client(ImportServiceService).import(batches())) {
    report.created += answer.created;
    report.changed += answer.changed;
    report.unchanged += answer.unchanged;
    report.problems.push(...answer.problems);
  }
  return report;
}
