// A company with visits to staff, and the two scheduling writes as an integrator sends them.
import { randomUUID } from 'node:crypto';
import * as line from '../../services/scheduling/test/records.ts';
import type { System, TestCompany } from './system.ts';

type Json = Record<string, any>;

export interface Reply {
  status: number;
  headers: Headers;
  body: Json;
}

/** Changes to an otherwise valid request. */
export interface Sending {
  key?: string | null;
  company?: TestCompany;
  headers?: Record<string, string>;
  raw?: string | Uint8Array;
}

export async function dispatchDesk(system: System, of?: TestCompany) {
  const company = of ?? (await system.createCompany());
  const [account, location] = [line.account(), line.location()];
  const job = line.job({ account: line.ref(account['id'], account['name']), location_id: location['id'], number: 'J-10482' });
  const technicians = ['Dana Whitfield', 'Luis Ortega', 'Mei Tanaka'].map((name) => member({ name }));
  await store(company, 'accounts', account);
  await store(company, 'locations', location);
  await store(company, 'team-members', ...technicians);
  await store(company, 'jobs', job);

  function member(fields: Json = {}): Json {
    return {
      id: randomUUID(),
      name: 'Dana Whitfield',
      first_name: 'Dana',
      last_name: 'Whitfield',
      email: null,
      phone: null,
      role: 'TECHNICIAN',
      title: null,
      status: 'ACTIVE',
      assignable: true,
      business_unit: null,
      tags: [],
      color: null,
      created_at: '2026-03-01T15:00:00Z',
      updated_at: '2026-03-01T15:00:00Z',
      ...fields,
    };
  }

  async function store(of: TestCompany, path: string, ...records: Json[]): Promise<void> {
    const { problems } = await system.importRecords(of, path, records);
    if (problems.length > 0) throw new Error(JSON.stringify(problems));
  }

  async function send(
    method: string,
    path: string,
    body: unknown,
    { key = randomUUID(), company: as = company, headers = {}, raw }: Sending = {},
  ): Promise<Reply> {
    const response = await fetch(`${system.baseUrl}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${as.apiKey}`,
        'content-type': 'application/json',
        ...(key === null ? {} : { 'idempotency-key': key }),
        ...headers,
      },
      body: (raw ?? JSON.stringify(body)) as string,
    });
    return { status: response.status, headers: response.headers, body: (await response.json()) as Json };
  }

  const technicianIds = technicians.map(({ id }) => id as string);
  const addition = (visit: Json, fields: Json = {}): Json => ({
    expected_revision: visit['revision'],
    appointment_id: visit['id'],
    team_member_id: technicianIds[0],
    starts_at: '2026-03-02T15:00:00Z',
    ends_at: '2026-03-02T16:00:00Z',
    ...fields,
  });

  return {
    company,
    account,
    location,
    job,
    technicians: technicianIds as [string, string, string],
    member,
    store: (path: string, ...records: Json[]) => store(company, path, ...records),
    send,
    addition,

    async visit(fields: Json = {}): Promise<Json> {
      const record = line.visit({ job_id: job['id'], ...fields });
      await store(company, 'job-appointments', record);
      return this.read(record['id']);
    },

    async read(visitId: string): Promise<Json> {
      return (await system.get(company, `/v1/job-appointments/${visitId}`)).body.data as Json;
    },

    add: (visit: Json, fields: Json = {}, sending: Sending = {}): Promise<Reply> => send('POST', '/v1/job-assignments', addition(visit, fields), sending),

    remove: (id: string, revision: string, sending: Sending = {}): Promise<Reply> =>
      send('DELETE', `/v1/job-assignments/${id}`, { expected_revision: revision }, sending),
  };
}

export type DispatchDesk = Awaited<ReturnType<typeof dispatchDesk>>;

export function refusal({ status, body }: Reply): unknown[] {
  const detail = body['error']?.details?.[0] as Json | undefined;
  return [status, body['error']?.code, detail?.['code'], detail?.['field']];
}
