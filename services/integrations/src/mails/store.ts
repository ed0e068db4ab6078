// Queue and results of e-mails to users. Every change of status is committed before its consequence is carried out.
import { notFreezing, notFrozen, type Database, type Queryable } from '@truckroll/postgres';

/** An e-mail that this process attempts to send. No other process will send it in the same attempt. */
export interface Mail {
  readonly id: string;
  readonly address: string;
  readonly subject: string;
  readonly text: string;
  readonly attempts: number;
}

/** SQL condition: the user u is active and still in the company of the row `of`. Otherwise they get no e-mail about it. */
export function answersFor(of: 'e' | 'm'): string {
  return `u.active and u.company_id = ${of}.company_id`;
}

/** Queues an e-mail in the caller's transaction. After the commit, call `queued` of @truckroll/mail, or the sender finds it at its next poll. */
export async function queueMail(tx: Queryable, mail: { companyId: string; userId: string; subject: string; body: string }): Promise<void> {
  await tx.query({
    name: 'queue_mail',
    text: 'insert into mails (company_id, user_id, subject, body) values ($1, $2, $3, $4)',
    values: [mail.companyId, mail.userId, mail.subject, mail.body],
  });
}

/** Ends due e-mails whose user is inactive, has left the company or has no address. Resolves to them. */
export async function suppress(database: Database): Promise<{ id: string; user_id: string; detail: string }[]> {
  const { rows } = await database.query<{ id: string; user_id: string; detail: string }>({
    name: 'suppress_mails',
    text: `update mails m set status = 'SUPPRESSED', finished_at = now(),
        detail = case when not u.active then 'the user is not active any more' when u.company_id <> m.company_id then 'the user has left the company'
          else 'the user has no e-mail address' end
      from users u where u.id = m.user_id and m.status = 'QUEUED' and m.due_at <= now() and (not (${answersFor('m')}) or u.email = '')
        and ${notFreezing('m.company_id')}
      returning m.message_id as id, m.user_id, m.detail`,
  });
  return rows;
}

/** Leases due e-mails for `leaseMs`, the longest due first; skips those that another replica is taking. */
export async function take(database: Database, most: number, leaseMs: number): Promise<Mail[]> {
  const { rows } = await database.query<Mail>({
    name: 'take_mails',
    text: `with due as (
        select m.company_id, m.created_at, m.message_id, u.email from mails m join users u on u.id = m.user_id
        where m.status = 'QUEUED' and m.due_at <= now() and ${answersFor('m')} and u.email <> '' and ${notFreezing('m.company_id')}
        order by m.due_at limit $1 for update of m skip locked)
      update mails m set status = 'ATTEMPTING', attempts = attempts + 1, attempted_at = now(), attempt_ends_at = now() + $2 * interval '1 millisecond'
      from due where m.company_id = due.company_id and m.created_at = due.created_at and m.message_id = due.message_id
      returning m.message_id as id, due.email as address, m.subject, m.body as text, m.attempts`,
    values: [most, leaseMs],
  });
  return rows;
}

/** Stores the result of an attempt. Changes nothing if the attempt was given up before (UNKNOWN stays UNKNOWN), or the company is frozen. */
export async function finish(database: Database, { id }: Mail, status: 'SENT' | 'FAILED' | 'UNKNOWN', detail: string): Promise<void> {
  await database.query({
    name: 'finish_mail',
    text: `update mails set status = $2, finished_at = now(), detail = $3 where message_id = $1 and status = 'ATTEMPTING' and ${notFrozen('mails.company_id')}`,
    values: [id, status, detail],
  });
}

/** Queues an e-mail again, due in `delayMs`. Changes nothing if the attempt was given up before. */
export async function postpone(database: Database, { id }: Mail, delayMs: number, detail: string): Promise<void> {
  await database.query({
    name: 'postpone_mail',
    text: `update mails set status = 'QUEUED', due_at = now() + $2 * interval '1 millisecond', attempt_ends_at = null, detail = $3
      where message_id = $1 and status = 'ATTEMPTING' and ${notFrozen('mails.company_id')}`,
    values: [id, Math.round(delayMs), detail],
  });
}
