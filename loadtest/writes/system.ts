import { relayLock } from '@truckroll/outbox';
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { say } from '@truckroll/local-stack';
import type pg from 'pg';
import { importFile } from '../data/import.ts';
import { getJson } from '../data/targets.ts';
import { TECHNICIANS, VISITS, idOf, visitFiles } from '../data/visits.ts';
import { runWrk, type Outcome } from '../measure/wrk.ts';
import type { Services } from '../system/programs.ts';
import type { Running, Stack } from '../system/stack.ts';

export const DATABASE = 'truckroll_writes';
export const COMPANY = { id: '7d1c0f52-3e0b-8c41-a6f2-0d4b8e1f9a37', name: 'Benchmark of writes', timezone: 'America/Chicago', files: [] };
export const SERVICES = ['integrations', 'scheduling'] as const;
const PAGE = 100;

interface Named {
  readonly id: string;
  readonly name: string;
}

/** A visit as the API returns it, with the fields that the benchmark reads. */
export interface Visit {
  readonly id: string;
  readonly revision: string;
  readonly created_at: string;
  readonly created_by: Named;
  readonly job: { readonly id: string } & Readonly<Record<'account' | 'location' | 'contact' | 'business_unit' | 'job_type', Named | null>>;
  readonly assignments: readonly { readonly id: string; readonly appointment_id: string; readonly team_member: Named }[];
}

/** Creates the company and its records if they are missing. Resolves to its key. */
export async function prepareWrites({ channels, operator }: Services): Promise<string> {
  say(`Importing ${VISITS} visits, unless they are there …`);
  await operator.createCompany(COMPANY);
  for (const file of visitFiles()) await importFile(channels, COMPANY.id, file);
  return await operator.keyOf(COMPANY.id);
}

/** Takes the relay lock of scheduling, so that no events are published while this session lives. */
export async function stopPublishing(client: pg.Client): Promise<void> {
  await client.query('select pg_advisory_lock(hashtextextended($1, 0))', [relayLock('scheduling')]);
}

export function writeLoad({ folder }: Stack, key: string, connections: number) {
  const technicians = Array.from({ length: TECHNICIANS }, (_, i) => idOf('technician', i + 1)).join(',');
  return (port: number, visits: readonly Visit[], seconds: number): Promise<Outcome> => {
    const file = join(folder, 'writes.targets');
    // Revisions are hashes, so this order is unrelated to that of the data.
    const shuffled = visits.toSorted((a, b) => (a.revision < b.revision ? -1 : 1));
    const lines = shuffled.map(({ id, revision, assignments }) => `${id}\t${revision}\t${assignments[0]?.id ?? '-'}\n`);
    writeFileSync(file, lines.join(''));
    return runWrk('writes.lua', [file, `Bearer ${key}`, technicians, randomBytes(8).toString('hex')], { port, connections, seconds });
  };
}

export async function readVisits({ port }: Running, key: string): Promise<Visit[]> {
  const visits: Visit[] = [];
  for (let after: string | null = ''; after !== null; ) {
    const path: string = `/v1/job-appointments?limit=${PAGE}${after === '' ? '' : `&cursor=${encodeURIComponent(after)}`}`;
    const { data, pagination }: Page = await getJson<Page>(port, { path, header: ['Authorization', `Bearer ${key}`] });
    visits.push(...data);
    after = pagination.next_cursor;
  }
  return visits;
}

interface Page {
  readonly data: readonly Visit[];
  readonly pagination: { readonly next_cursor: string | null };
}
