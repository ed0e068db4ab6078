// Sends e-mails about endpoints that fail, are disabled, or deliver again.
import { formatInstant, now, type JsonProblem } from '@truckroll/contract';
import { queued } from '@truckroll/mail';
import { notFreezing, type Database, type Queryable, type Transaction } from '@truckroll/postgres';
import { PeriodicTask, logOutage, type BackgroundPart } from '@truckroll/process';
import type { Logger } from '@truckroll/telemetry';
import { takeOne } from '../../budgets.ts';
import { queueMail } from '../../mails/store.ts';
import { alertDue, type Alert, type AlertState } from './alert-rules.ts';

const EVERY_MS = 60_000;
/** E-mails a day to one user about all of a company's endpoints. */
const MOST_MAILS = 10;
/** Length of an endpoint's name in an e-mail. */
const MOST_NAME = 40;

interface Row extends AlertState {
  id: string;
  company_id: string;
  user_ids: string[];
  name: string;
  url: string;
}

const COLUMNS = `e.id, e.company_id, coalesce(e.alert_user_ids, array[e.created_by]) as user_ids, e.name, e.url, e.enabled and e.paused_at is null as enabled, e.disabled_reason,
  e.failing_since, e.alerted_at, e.alerted_for, (
    select max(c.last_success_at) from webhook_counts c
    where c.company_id = e.company_id and c.endpoint_id = e.id and c.at >= e.alerted_at - interval '1 hour') as last_success_at`;

/** Sends the e-mail about an endpoint that is due, if any. */
export async function alertIfDue(tx: Transaction, companyId: string, id: string, at: number): Promise<void> {
  const { rows } = await tx.query<Row>({
    name: 'lock_webhook_to_alert',
    text: `select ${COLUMNS} from webhook_endpoints e where e.company_id = $1 and e.id = $2 and e.deleted_at is null for update of e`,
    values: [companyId, id],
  });
  const [row] = rows;
  const alert = row && alertDue(row, at);
  if (row === undefined || alert === undefined) return;
  await tx.query({
    name: 'note_webhook_alert',
    // The time of the last alert stays after a recovery, as there is at most one alert a day.
    text: `update webhook_endpoints set alerted_for = $3, alerted_at = case when $3::text is null then alerted_at else $4::timestamptz end
      where company_id = $1 and id = $2`,
    values: [companyId, id, alert === 'RECOVERED' ? null : alert, formatInstant(at)],
  });
  const { subject, body } = letterOf(row, alert);
  const taken = new Map<string, number | undefined>();
  // In the order of ids, so that alerts about two endpoints cannot deadlock.
  for (const userId of row.user_ids.toSorted()) taken.set(userId, await takeOne(tx, companyId, `mail ${userId}`, MOST_MAILS));
  for (const userId of row.user_ids) {
    const count = taken.get(userId);
    if (count !== undefined) await queueMail(tx, { companyId, userId, subject, body: count < MOST_MAILS ? body : `${body}\n\n${LAST}` });
  }
  tx.afterCommit(queued);
}

const LAST = `This is the last e-mail about webhook endpoints today: there are at most ${MOST_MAILS} a day. The console shows how they all fare.`;
const KEPT = 'Events from now on are kept as skipped, for 30 days.';
const RECOVER = 'Once it answers again, enable it and recover what was skipped: nothing in that time is lost.';

/** A user chose the name, and others get the e-mail: words only, nothing that a mail program takes for a link. */
function plainName(name: string): string {
  const words = name.replace(/[^\p{L}\p{M}\p{N}_'-]+/gu, ' ').trim();
  return [...words].slice(0, MOST_NAME).join('').trim() || 'without a name';
}

function letterOf({ name: given, url, failing_since: since }: Row, alert: Alert): { subject: string; body: string } {
  const name = plainName(given);
  const endpoint = `The webhook endpoint "${name}" (${new URL(url).host})`;
  const sinceWhen = since === null ? '' : ` since ${formatInstant(since)}`;
  const texts: Readonly<Record<Alert, readonly [string, ...string[]]>> = {
    HOUR: [
      'failing',
      `${endpoint} has answered nothing but failures${sinceWhen}.`,
      'Its events are kept and tried again, for longer and longer. After five days of nothing but failures it is disabled.',
      'The log of its deliveries shows what it answered.',
    ],
    FAILING: [
      'disabled',
      `${endpoint} has answered nothing but failures for five days${sinceWhen && `,${sinceWhen}`}.`,
      `It has been disabled. ${KEPT}`,
      RECOVER,
    ],
    GONE: ['disabled', `${endpoint} has answered 410 Gone, which asks for no more events.`, `It has been disabled. ${KEPT}`, RECOVER],
    RECOVERED: ['delivers again', `${endpoint} accepts deliveries again.`, 'What failed in the meantime is tried again, or can be recovered for 30 days.'],
  };
  const [state, ...paragraphs] = texts[alert];
  return { subject: `Webhook endpoint ${state}: ${name}`, body: paragraphs.join('\n\n') };
}

/** Looks for e-mails that are due by the time that has passed. */
export async function sendAlerts(database: Database, at = now()): Promise<void> {
  const { rows } = await database.query<Row>({
    name: 'webhooks_to_alert',
    // An alert about an endpoint that was disabled is late only if there was another; a release of before this one sends its own.
    text: `select ${COLUMNS} from webhook_endpoints e where e.deleted_at is null and ${notFreezing('e.company_id')} and (
      e.alerted_at is not null or (e.enabled and e.failing_since <= $1::timestamptz - interval '1 hour'))`,
    values: [formatInstant(at)],
  });
  // One transaction each: fan-out to an endpoint waits for its lock.
  for (const { company_id, id } of rows.filter((row) => alertDue(row, at) !== undefined)) {
    await database.transaction((tx) => alertIfDue(tx, company_id, id, at), { retryContention: true });
  }
}

/** Sends due alerts once a minute. Replicas may all do so: the endpoint's lock lets one of them send each. */
export function webhookAlerts(database: Database, log: Logger): BackgroundPart {
  let failures = 0;
  const looks = new PeriodicTask(EVERY_MS, async () => {
    try {
      await sendAlerts(database);
      failures = 0;
    } catch (error) {
      failures += 1;
      logOutage(log, 'alerts about webhook endpoints wait for the database', failures, error);
    }
  });
  return { name: 'webhook alerts', start: async () => looks.start(), stop: () => looks.stop() };
}

/** The ids of the company's active users with these addresses, in their order; undefined for an unknown address. */
async function usersWith(db: Queryable, companyId: string, emails: readonly string[]): Promise<(string | undefined)[]> {
  const lower = emails.map((email) => email.toLowerCase());
  const { rows } = await db.query<{ id: string; email: string }>({
    name: 'users_to_alert',
    text: 'select id, lower(email) as email from users where company_id = $1 and active and lower(email) = any($2::text[])',
    values: [companyId, lower],
  });
  const ids = new Map(rows.map((user) => [user.email, user.id]));
  return lower.map((email) => ids.get(email));
}

/** Addresses in `alertEmails` that no active user of the company has (decisions §15). Letter case makes no difference. */
export async function alertProblems(db: Queryable, companyId: string, emails: readonly string[]): Promise<JsonProblem[]> {
  const message = 'No active user of the company has this address: give the address of one.';
  const users = await usersWith(db, companyId, emails);
  return users.flatMap((user, index) => (user === undefined ? [{ field: `alertEmails[${index}]`, code: 'INVALID_FORMAT', message } as const] : []));
}

/** Makes the users with these addresses, in which alertProblems has found none, get the e-mails about an endpoint; undefined keeps those who do. */
export async function setAlertUsers(tx: Transaction, companyId: string, id: string, emails: readonly string[] | undefined): Promise<void> {
  if (emails === undefined) return;
  const users = await usersWith(tx, companyId, emails);
  await tx.query({
    name: 'set_webhook_alert_users',
    text: 'update webhook_endpoints set alert_user_ids = $3::uuid[], updated_at = now() where company_id = $1 and id = $2',
    values: [companyId, id, [...new Set(users.filter((user) => user !== undefined))]],
  });
}
