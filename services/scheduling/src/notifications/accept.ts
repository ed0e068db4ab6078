import { randomUUID } from 'node:crypto';
import { ApiError } from '@truckroll/contract';
import { Account } from '@truckroll/contract/gen/scheduling/v1/accounts';
import type { CustomerNotification, NotificationOutcome } from '@truckroll/contract/gen/scheduling/v1/assignment_commands';
import { NotificationStatus } from '@truckroll/contract/gen/scheduling/v1/assignment_commands';
import { Contact } from '@truckroll/contract/gen/scheduling/v1/contacts';
import type { Visit, VisitJob } from '@truckroll/contract/gen/scheduling/v1/job_appointments';
import { queued } from '@truckroll/mail';
import { binaryArrays, type Transaction } from '@truckroll/postgres';
import { recipientOf } from './recipient.ts';
import { comingTo, defaultMessage, subjectOf } from './text.ts';

export interface NotificationInput {
  companyId: string;
  /** The visit after the change, including its new revision. */
  visit: Visit;
  job: VisitJob;
  request: CustomerNotification | null;
}

/** Runs in the write's transaction, before its rules, as a contact of another account is a 404 (decisions §5). A refused write rolls it back. */
export async function acceptNotification(tx: Transaction, { companyId, visit, job, request }: NotificationInput): Promise<NotificationOutcome> {
  if (request === null) return { status: NotificationStatus.NOT_REQUESTED, id: null };
  const accountId = job.account?.id;
  const account = accountId === undefined ? undefined : await accountWith(tx, companyId, accountId);
  const asked = request.contact_id ?? undefined;
  const contactId = asked ?? job.contact?.id ?? account?.primary_contact?.id;
  const contact = contactId === undefined ? undefined : await contactWith(tx, companyId, contactId);
  if (asked !== undefined && contact?.account?.id !== accountId) throw ApiError.notFound('contact of this account');
  const recipient = recipientOf(account, contact);
  const [status, reason] = 'reason' in recipient ? (['SUPPRESSED', recipient.reason] as const) : (['QUEUED'] as const);
  const { channel, address } = 'reason' in recipient ? {} : recipient;
  const id = randomUUID();
  const message = request.message ?? defaultMessage(visit, job);
  const named = request.message == null ? comingTo(visit).map((member) => member.id) : [];
  await tx.query({
    name: 'store_notification',
    text: `insert into notifications
        (company_id, id, appointment_id, job_id, account_id, contact_id, revision, channel, address, subject, message, status, detail, finished_at, team_member_ids)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, case when $13::text is not null then now() end, $14::uuid[])`,
    values: [
      ...[companyId, id, visit.id, visit.job_id, accountId, contactId, visit.revision, channel, address, subjectOf(visit), message, status, reason],
      binaryArrays.uuid(named),
    ],
  });
  if (status === 'QUEUED') tx.afterCommit(queued);
  return { status: NotificationStatus[status], id };
}

async function accountWith(tx: Transaction, companyId: string, id: string): Promise<Account | undefined> {
  const [row] = await tx.queryBinary({
    name: 'account_to_notify',
    text: 'select document from accounts where company_id = $1 and id = $2',
    values: [companyId, id],
  });
  return row && Account.decode(row[0] as Buffer);
}

async function contactWith(tx: Transaction, companyId: string, id: string): Promise<Contact | undefined> {
  const [row] = await tx.queryBinary({
    name: 'contact_to_notify',
    text: 'select document from contacts where company_id = $1 and id = $2',
    values: [companyId, id],
  });
  return row && Contact.decode(row[0] as Buffer);
}
