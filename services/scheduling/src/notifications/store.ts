// Every change of status is committed before its effect: an attempt is in the table before the provider is called.
import { Account } from '@truckroll/contract/gen/scheduling/v1/accounts';
import { Contact } from '@truckroll/contract/gen/scheduling/v1/contacts';
import { Visit } from '@truckroll/contract/gen/scheduling/v1/job_appointments';
import type { Reference } from '@truckroll/contract/gen/type/v1/type';
import { notFreezing, notFrozen, type Database, type Transaction } from '@truckroll/postgres';
import { recipientOf, type NotificationChannel } from './recipient.ts';

/** A notification leased to this process, the only one that will ever attempt it. */
export interface LeasedNotification {
  companyId: string;
  id: string;
  channel: NotificationChannel;
  address: string;
  subject: string;
  text: string;
  attempts: number;
  visitId: string;
  jobId: string;
  account: Reference;
  contact: Reference;
  /** Ids of the team members that the text names. */
  people: readonly string[];
}

interface Row {
  company_id: string;
  id: string;
  appointment_id: string;
  job_id: string;
  revision: string;
  channel: NotificationChannel;
  address: string;
  subject: string;
  message: string;
  attempts: number;
  people: string[] | null;
  visit: Buffer | null;
  account: Buffer | null;
  contact: Buffer | null;
}

/** SQL: as `underWay` of FreezeOptions. */
export const underWay = `case when exists (
  select from notifications where company_id = $1::uuid and status = 'ATTEMPTING' and attempt_ends_at > now()) then 'messages that are being sent' end`;

/** Begins up to `most` due attempts, and suppresses messages whose visit or recipient changed. After `leaseMs` an attempt counts as lost. */
export function take(database: Database, most: number, leaseMs: number): Promise<{ leases: LeasedNotification[]; suppressed: NotificationChannel[] }> {
  return database.transaction(async (tx) => {
    const { rows } = await tx.query<Row>({
      name: 'due_notifications',
      text: `select n.company_id, n.id, n.appointment_id, n.job_id, n.revision, n.channel, n.address, n.subject, n.message, n.attempts,
          n.team_member_ids as people, v.derived as visit, a.document as account, c.document as contact
        from notifications n
        left join job_appointments v on v.company_id = n.company_id and v.id = n.appointment_id
        left join accounts a on a.company_id = n.company_id and a.id = n.account_id
        left join contacts c on c.company_id = n.company_id and c.id = n.contact_id
        where n.status = 'QUEUED' and n.due_at <= now() and ${notFreezing('n.company_id')} order by n.due_at limit $1 for update of n skip locked`,
      values: [most],
    });
    const leases: LeasedNotification[] = [];
    const suppressed: NotificationChannel[] = [];
    for (const row of rows) {
      const leased = leaseOf(row);
      if ('reason' in leased) suppressed.push(row.channel);
      else leases.push(leased);
      await ('reason' in leased ? suppress(tx, row, leased.reason) : begin(tx, row, leaseMs));
    }
    return { leases, suppressed };
  });
}

function leaseOf(row: Row): LeasedNotification | { reason: string } {
  const account = row.account === null ? undefined : Account.decode(row.account);
  const contact = row.contact === null ? undefined : Contact.decode(row.contact);
  if (row.visit === null || Visit.decode(row.visit).revision !== row.revision) return { reason: 'the visit has changed' };
  const recipient = recipientOf(account, contact);
  if ('reason' in recipient) return recipient;
  if (recipient.channel !== row.channel || recipient.address !== row.address) return { reason: 'the contact’s primary channel has changed' };
  const { company_id: companyId, appointment_id: visitId, job_id: jobId, id, channel, address, subject, message: text, attempts, people } = row;
  const reference = ({ id: of, name }: Reference): Reference => ({ id: of, name });
  return {
    companyId,
    id,
    channel,
    address,
    subject,
    text,
    attempts: attempts + 1,
    visitId,
    jobId,
    account: reference(account as Account),
    contact: reference(contact as Contact),
    people: people ?? [],
  };
}

async function suppress(tx: Transaction, { company_id, id }: Row, reason: string): Promise<void> {
  await tx.query({
    name: 'suppress_notification',
    text: `update notifications set status = 'SUPPRESSED', finished_at = now(), detail = $3 where company_id = $1 and id = $2`,
    values: [company_id, id, reason],
  });
}

async function begin(tx: Transaction, { company_id, id }: Row, leaseMs: number): Promise<void> {
  await tx.query({
    name: 'begin_notification',
    text: `update notifications set status = 'ATTEMPTING', attempts = attempts + 1, attempted_at = now(),
        attempt_ends_at = now() + $3 * interval '1 millisecond' where company_id = $1 and id = $2`,
    values: [company_id, id, leaseMs],
  });
}

/** Stores the outcome of an attempt. Undefined if the attempt was already given up (it stays UNKNOWN), or the company is frozen. */
export async function finish(
  tx: Transaction,
  { companyId, id }: LeasedNotification,
  status: 'SENT' | 'FAILED' | 'UNKNOWN',
  detail: string,
): Promise<{ attempted_at: number; finished_at: number } | undefined> {
  const { rows } = await tx.query<{ attempted_at: number; finished_at: number }>({
    name: 'finish_notification',
    text: `update notifications set status = $3, finished_at = now(), detail = $4
      where company_id = $1 and id = $2 and status = 'ATTEMPTING' and ${notFrozen('notifications.company_id')} returning attempted_at, finished_at`,
    values: [companyId, id, status, detail],
  });
  return rows[0];
}

/** Queues a notification again that no provider has taken. */
export async function postpone(tx: Transaction, { companyId, id }: LeasedNotification, delayMs: number, detail: string): Promise<void> {
  await tx.query({
    name: 'postpone_notification',
    text: `update notifications set status = 'QUEUED', due_at = now() + $3 * interval '1 millisecond', attempt_ends_at = null, detail = $4
      where company_id = $1 and id = $2 and status = 'ATTEMPTING' and ${notFrozen('notifications.company_id')}`,
    values: [companyId, id, Math.round(delayMs), detail],
  });
}
