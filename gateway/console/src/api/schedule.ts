// A day's work: visits, technicians, requests without a visit, and the two writes that add and remove a technician.
import type { components } from '@truckroll/client';
import { inPages, type Account, type Visit } from './business.ts';
import { request } from './client.ts';
import { PUBLIC, readList, type Listed } from './reports.ts';

type Schemas = components['schemas'];

export type Assignment = Visit['assignments'][number];
type ServiceRequest = Schemas['ServiceRequest'];

export interface Technician {
  readonly id: string;
  readonly name: string;
  readonly email?: string | null;
  readonly phone?: string | null;
}

/** Most visits of a day or a week that are loaded. */
export const MOST_VISITS = 1000;
const MOST_TECHNICIANS = 500;
const MOST_REQUESTS = 100;

/** Visits that begin on these company-local days, by time; `before` is exclusive. */
export async function readVisits(from: string, before: string, signal: AbortSignal): Promise<Listed<Visit>> {
  const { records, more } = await readList<Visit>('job-appointments', { starts_from: from, starts_before: before }, MOST_VISITS, signal);
  return { records: [...records].sort((a, b) => a.starts_at.localeCompare(b.starts_at)), more };
}

/** Team members who may be added to a visit, by name. */
export async function readTechnicians(signal: AbortSignal): Promise<Technician[]> {
  const { records } = await readList<Technician>('team-members', { status: 'ACTIVE', assignable: 'true' }, MOST_TECHNICIANS, signal);
  return records.map(({ id, name, email = null, phone = null }) => ({ id, name, email, phone })).sort((a, b) => a.name.localeCompare(b.name));
}

/** Visits on which the technician's own work begins on these company-local days; `before` is exclusive. */
export async function readVisitsOf(technicianId: string, from: string, before: string, signal: AbortSignal): Promise<readonly Visit[]> {
  const query = { team_member_id: technicianId, starts_from: from, starts_before: before };
  const { records } = await readList<Assignment>('job-assignments', query, MOST_VISITS, signal);
  const ids = [...new Set(records.map(({ appointment_id: id }) => id))];
  return inPages(ids, async (some) => (await readList<Visit>('job-appointments', { ids: some }, some.length, signal)).records);
}

/** Technicians who are off from `start` to `end`, by time off that began on the day before or later. */
export async function readTimeOff(start: string, end: string, since: string, signal: AbortSignal): Promise<string[]> {
  const query = { activity: 'TIME_OFF', starts_from: since, starts_before: end };
  const { records } = await readList<{ team_member: Technician; ends_at: string | null }>('time-entries', query, MOST_VISITS, signal);
  return records.filter(({ ends_at: ends }) => ends === null || Date.parse(ends) > Date.parse(start)).map(({ team_member: { id } }) => id);
}

/** A request with a telephone number and an e-mail address to answer it: those given, or else those of the customer's account. */
export interface Unbooked extends ServiceRequest {
  readonly phone: string | null;
  readonly email: string | null;
}

/** Service requests without a visit, newest first. */
export async function readUnbooked(signal: AbortSignal): Promise<Listed<Unbooked>> {
  const answer = await request('GET', 'service-requests', { query: { status: ['NEW', 'CONTACTED'], limit: MOST_REQUESTS }, signal });
  const { nextCursor } = answer['pagination'] as { nextCursor: string | null };
  const requests = answer['data'] as ServiceRequest[];
  const ids = [...new Set(requests.flatMap(({ account, contact_phone: phone, contact_email: email }) => (account && !phone && !email ? [account.id] : [])))];
  const accounts = ids.length === 0 ? [] : (await readList<Account>('accounts', { ids }, ids.length, signal)).records;
  const records = requests.map((each): Unbooked => {
    const account = accounts.find(({ id }) => id === each.account?.id);
    return { ...each, phone: each.contact_phone ?? account?.phone ?? null, email: each.contact_email ?? account?.email ?? null };
  });
  return { records, more: nextCursor !== null };
}

export interface Notification {
  readonly message?: string;
}

export interface Addition {
  readonly expected_revision: string;
  readonly appointment_id: string;
  readonly team_member_id: string;
  readonly starts_at: string;
  readonly ends_at: string;
  readonly allow_outside_window: boolean;
  readonly customer_notification: Notification | null;
}

export interface Removal {
  readonly expected_revision: string;
  readonly customer_notification: Notification | null;
}

/** The message to the customer that a write requested; without an id if it requested none. */
export type Requested = Schemas['NotificationOutcome'];

/** The visit after the write. */
export interface Written {
  readonly visit: Visit;
  readonly message: Requested;
}

async function written(answer: Promise<Record<string, unknown>>): Promise<Written> {
  const { data, notification } = await answer;
  return { visit: data as Visit, message: notification as Requested };
}

export const addTechnician = (body: Addition, idempotencyKey: string): Promise<Written> =>
  written(request('POST', `${PUBLIC}job-assignments`, { body, idempotencyKey }));

export const removeTechnician = (assignmentId: string, body: Removal, idempotencyKey: string): Promise<Written> =>
  written(request('DELETE', `${PUBLIC}job-assignments/${assignmentId}`, { body, idempotencyKey }));
