// A company with visits to staff; half of them are booked for service requests.
import { randomUUID } from 'node:crypto';
import { IntakeServiceService } from '@truckroll/contract/gen/scheduling/v1/intake';
import { ServiceRequestChannel } from '@truckroll/contract/gen/scheduling/v1/service_requests';
import { until } from '@truckroll/testing/until';
import * as line from '../../../services/scheduling/test/records.ts';
import { createCompany, importRecords, type TestCompany } from '../../support/company.ts';
import type { Running } from '../system/prepared.ts';
import { HANG } from '../wait.ts';

export interface World {
  readonly company: TestCompany;
  readonly visitIds: readonly string[];
  readonly technicianIds: readonly string[];
}

export interface WorldSize {
  readonly visits: number;
  readonly technicians: number;
  /** Called when the company exists, before anything of it is published. */
  readonly created?: (company: TestCompany) => Promise<void>;
}

const ids = (count: number): string[] => Array.from({ length: count }, () => randomUUID());

export async function makeWorld(installation: Running, { visits, technicians, created }: WorldSize): Promise<World> {
  const company = await createCompany(installation.channel('integrations'), 'America/Chicago');
  await created?.(company);
  const scheduling = installation.channel('scheduling');
  const store = async (path: string, records: readonly line.Line[]): Promise<void> => {
    const { problems } = await importRecords(scheduling, company.id, path, records);
    if (problems.length > 0) throw new Error(JSON.stringify(problems[0]));
  };
  const contactId = randomUUID();
  const account = line.account({ primary_contact: line.ref(contactId, 'Dana Whitfield') });
  const email = { type: 'EMAIL', value: 'dana@example.com' };
  const contact = {
    id: contactId,
    account: line.ref(account['id']),
    name: 'Dana Whitfield',
    is_primary: true,
    archived: false,
    primary_channel: email,
    channels: [{ id: randomUUID(), ...email, is_primary: true, opted_out: false }],
    created_at: account['created_at'],
    updated_at: account['updated_at'],
  };
  const location = line.location();
  // Two visits per job, so that a technician who leaves one visit may stay on the job.
  const jobs = ids(Math.ceil(visits / 2)).map((id, i) => line.job({ id, number: `J-${i + 1}`, account: line.ref(account['id']), location_id: location['id'] }));
  const visitIds = ids(visits);
  const technicianIds = ids(technicians);
  await store('accounts', [account]);
  await store('contacts', [contact]);
  await store('locations', [location]);
  await store(
    'team-members',
    technicianIds.map((id, i) => technician(id, `Technician ${i + 1}`)),
  );
  await store('jobs', jobs);
  await store(
    'job-appointments',
    visitIds.map((id, i) => line.visit({ id, number: `J-${i}-1`, job_id: jobs[i >> 1]!['id'] })),
  );

  const intake = scheduling.client(IntakeServiceService);
  for (const [i, appointment_id] of visitIds.entries()) {
    if (i % 2 === 1) continue;
    const of = { company_id: company.id, id: randomUUID() };
    await intake.recordServiceRequest({ ...of, channel: ServiceRequestChannel.PHONE, summary: 'AC not cooling', account_id: account['id'] });
    await intake.bookServiceRequest({ ...of, job_id: jobs[i >> 1]!['id'] as string, appointment_id });
  }
  await until(
    'the key of the new company to be known',
    async () => {
      const response = await fetch(`${installation.baseUrl}/v1/company`, { headers: { authorization: `Bearer ${company.apiKey}` } });
      return response.ok;
    },
    Boolean,
    HANG,
  );
  return { company, visitIds, technicianIds };
}

function technician(id: string, name: string): line.Line {
  const [first_name, last_name] = name.split(' ');
  const at = '2026-03-01T15:00:00Z';
  return { id, name, first_name, last_name, role: 'TECHNICIAN', status: 'ACTIVE', assignable: true, tags: [], created_at: at, updated_at: at };
}
