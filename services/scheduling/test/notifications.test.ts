// Customer notifications (decisions §5): their recipients, and their outcomes with providers that accept, refuse, hang and hang up.
import { randomUUID } from 'node:crypto';
import {
  AssignmentCommandServiceService,
  NotificationStatus,
  type CustomerNotification,
  type NotificationOutcome,
} from '@truckroll/contract/gen/scheduling/v1/assignment_commands';
import { InteractionCompleted } from '@truckroll/contract/gen/events/v1/public_events';
import { IntakeServiceService } from '@truckroll/contract/gen/scheduling/v1/intake';
import type { Visit } from '@truckroll/contract/gen/scheduling/v1/job_appointments';
import { MessageChannel, NotificationServiceService } from '@truckroll/contract/gen/scheduling/v1/notifications';
import { ServiceRequestChannel } from '@truckroll/contract/gen/scheduling/v1/service_requests';
import { until } from '@truckroll/testing/until';
import { onQueued } from '../../../packages/mail/src/queued.ts';
import { startHarness, type Company, type Harness, type Json } from './harness.ts';
import { startMailServer, type MailServer } from '@truckroll/testing';
import { startSmsServer, type SmsServer } from './providers.ts';
import * as line from './records.ts';

const TIMEOUT_MS = 1500;
let mail: MailServer;
let sms: SmsServer;
let harness: Harness;
let company: Company;
const member = line.teamMember();

beforeAll(async () => {
  [mail, sms] = await Promise.all([startMailServer(), startSmsServer()]);
  harness = await startHarness({
    smtpUrl: `smtp://127.0.0.1:${mail.port}?ignoreTLS=true`,
    notificationFrom: 'Lone Star Comfort <service@lonestar.example>',
    smsUrl: sms.url,
    smsToken: 'secret',
    notificationTimeoutMs: TIMEOUT_MS,
  });
  company = harness.company();
  await company.store('team-members', member);
}, 60_000);
afterAll(async () => {
  await harness.stop();
  await Promise.all([mail.stop(), sms.stop()]);
});

type ChannelType = 'EMAIL' | 'MOBILE' | 'PHONE';
const channel = (type: ChannelType, value: string, opted_out = false): Json => ({ id: randomUUID(), type, value, is_primary: true, opted_out });

function contactOf(account: Json, fields: Json = {}): Json {
  const address = `${randomUUID()}@customer.example`;
  return {
    id: randomUUID(),
    account: line.ref(account['id'], account['name']),
    name: 'Marcus Oyelaran',
    first_name: null,
    last_name: null,
    title: null,
    is_primary: true,
    archived: false,
    primary_channel: { type: 'EMAIL', value: address },
    channels: [channel('EMAIL', address)],
    created_at: '2026-03-01T15:00:00Z',
    updated_at: '2026-03-01T15:00:00Z',
    ...fields,
  };
}

async function scene({ of = {}, job = {}, contact = {} }: { of?: Json; job?: Json; contact?: Json } = {}) {
  const account = line.account(of);
  const primary = contactOf(account, contact);
  account['primary_contact'] = line.ref(primary['id'], primary['name']);
  const work = line.job({ account: line.ref(account['id'], account['name']), ...job });
  const record = line.visit({ job_id: work['id'] });
  await company.store('accounts', account);
  await company.store('contacts', primary);
  await company.store('jobs', work);
  await company.store('job-appointments', record);
  return {
    account,
    contact: primary,
    job: work,
    visit: (await company.detail('job-appointments', record['id'])) as Visit,
    address: primary['primary_channel']?.value as string,
  };
}

const add = async (visit: Visit, notification: CustomerNotification | null): Promise<NotificationStatus | undefined> =>
  (await outcomeOf(visit, notification))?.status;

async function outcomeOf(visit: Visit, customer_notification: CustomerNotification | null): Promise<NotificationOutcome | null | undefined> {
  const answer = await harness.channel.client(AssignmentCommandServiceService).addAssignment({
    caller: { company_id: company.id, time_zone: 'America/Chicago', user_id: randomUUID() },
    idempotency_key: randomUUID(),
    expected_revision: visit.revision,
    appointment_id: visit.id,
    team_member_id: member['id'],
    starts_at: visit.window_start_at,
    ends_at: visit.window_end_at,
    allow_outside_window: false,
    customer_notification,
  });
  return answer.notification;
}

const rows = async (visit: Visit): Promise<Json[]> =>
  (await harness.database.query<Json>({ text: 'select * from notifications where appointment_id = $1', values: [visit.id] })).rows;

const read = async (id: string, company_id = company.id) =>
  (await harness.channel.client(NotificationServiceService).getNotification({ key: { company_id, time_zone: 'UTC', id } })).data;

/** Polls: a notification that is not sent has no event. */
async function outcome(visit: Visit): Promise<Json> {
  const [row] = await until(
    'an outcome',
    () => rows(visit),
    ([found]) => ['SENT', 'FAILED', 'UNKNOWN', 'SUPPRESSED'].includes(found?.['status']),
  );
  return row!;
}

/** A notification is QUEUED from the start, and after an attempt that is repeated. */
async function attempted(visit: Visit): Promise<Json> {
  const [row] = await until(
    'an attempt to end',
    () => rows(visit),
    ([found]) => found?.['detail'] != null,
  );
  return row!;
}

async function sent(scenery: { contact?: Json } = {}, message?: string) {
  const set = await scene(scenery);
  expect(await add(set.visit, message === undefined ? {} : { message })).toBe(NotificationStatus.QUEUED);
  return { ...set, row: await outcome(set.visit) };
}

test('wakes the senders once it is queued, and not if the write is refused', async () => {
  const { visit } = await scene();
  let woken = 0;
  const leave = onQueued(() => void (woken += 1));
  await expect(add({ ...visit, revision: 'd'.repeat(64) }, {})).rejects.toMatchObject({ code: 'STALE_REVISION' });
  expect(woken).toBe(0);
  expect(await add(visit, {})).toBe(NotificationStatus.QUEUED);
  expect(woken).toBe(1);
  leave();
});

test('is read by its id while it waits and once it has ended, but not by another company', async () => {
  mail.behave('busy');
  const { visit } = await scene();
  const { id } = (await outcomeOf(visit, {}))!;
  const waiting = { id, status: NotificationStatus.QUEUED, channel: MessageChannel.EMAIL, reason: null, finished_at: null };
  expect(await read(id!)).toMatchObject(waiting);
  await attempted(visit);
  // What the busy server said is for operators.
  expect(await read(id!)).toMatchObject(waiting);
  mail.behave('refuse-recipient');
  await harness.database.query({ text: 'update notifications set due_at = now() where id = $1', values: [id] });
  const ended = await outcome(visit);
  mail.behave('accept');
  expect(await read(id!)).toMatchObject({ status: NotificationStatus.FAILED, reason: 'the provider refused it: 550', created_at: ended['created_at'] });
  await expect(read(id!, randomUUID())).rejects.toMatchObject({ status: 404 });
  expect(await outcomeOf((await scene()).visit, null)).toEqual({ status: NotificationStatus.NOT_REQUESTED, id: null });
});

describe('the recipient of a notification', () => {
  const to = async (visit: Visit) => (await rows(visit))[0]?.['contact_id'] as string | undefined;

  test('is the requested contact, else the job’s, else the account’s primary one', async () => {
    const { account, contact, visit } = await scene();
    await add(visit, {});
    expect(await to(visit)).toBe(contact['id']);

    const jobs = await scene();
    const second = contactOf(jobs.account);
    await company.store('contacts', second);
    await company.store('jobs', { ...jobs.job, contact: line.ref(second['id']) });
    const now = (await company.detail('job-appointments', jobs.visit.id)) as Visit;
    await add(now, {});
    expect(await to(now)).toBe(second['id']);

    const asked = contactOf(account);
    await company.store('contacts', asked);
    const other = await scene({ job: { account: line.ref(account['id']), contact: line.ref(contact['id']) } });
    await add(other.visit, { contact_id: asked['id'] });
    expect(await to(other.visit)).toBe(asked['id']);
  });

  test('is a 404 for a missing contact or another account’s, and nothing is written', async () => {
    const [{ visit }, stranger] = [await scene(), await scene()];
    for (const contact_id of [randomUUID(), stranger.contact['id']]) {
      await expect(add(visit, { contact_id })).rejects.toMatchObject({ status: 404 });
    }
    expect((await company.detail('job-appointments', visit.id)).revision).toBe(visit.revision);
    expect(await rows(visit)).toEqual([]);
  });

  test.each<[string, string, Parameters<typeof scene>[0]]>([
    [
      'who opted out',
      'the contact has opted out',
      { contact: { primary_channel: { type: 'EMAIL', value: 'a@b.example' }, channels: [channel('EMAIL', 'A@b.example', true)] } },
    ],
    ['without a primary channel', 'the contact has no primary channel', { contact: { primary_channel: null } }],
    [
      'whose telephone takes calls only',
      'the contact’s primary channel takes no messages',
      { contact: { primary_channel: { type: 'PHONE', value: '+15125550142' }, channels: [channel('PHONE', '+15125550142')] } },
    ],
    ['who is archived', 'the contact is archived', { contact: { archived: true } }],
    ['of an account that gets no notifications', 'the account gets no notifications', { of: { notifications_enabled: false } }],
  ])('does not exist, and the notification is SUPPRESSED at once, for a contact %s: %s', async (_, reason, scenery) => {
    const { visit } = await scene(scenery);
    const outcome = await outcomeOf(visit, {});
    expect(outcome).toEqual({ status: NotificationStatus.SUPPRESSED, id: expect.any(String) });
    expect(await read(outcome!.id!)).toMatchObject({ status: NotificationStatus.SUPPRESSED, channel: null, reason, finished_at: expect.any(Number) });
  });
});

describe('an e-mail', () => {
  test('that the server accepts is SENT: once, with the given text, and as a completed interaction', async () => {
    const set = await scene();
    const intake = harness.channel.client(IntakeServiceService);
    const [first, second] = [randomUUID(), randomUUID()].toSorted() as [string, string];
    for (const id of [second, first]) {
      await intake.recordServiceRequest({ company_id: company.id, id, channel: ServiceRequestChannel.WEB });
      await intake.bookServiceRequest({ company_id: company.id, id, job_id: set.job['id'], appointment_id: set.visit.id });
    }
    await add(set.visit, { message: 'Dana comes at noon.\n.\nSee you' });
    const row = await outcome(set.visit);
    expect(row).toMatchObject({ status: 'SENT', attempts: 1, channel: 'EMAIL' });
    // The provider's time limit, and 30 s to store the outcome.
    expect(row['attempt_ends_at'] - row['attempted_at']).toBe((TIMEOUT_MS + 30_000) * 1000);
    const letters = mail.letters.filter(({ to }) => to === set.address);
    expect(letters).toHaveLength(1);
    expect(letters[0]).toMatchObject({ from: 'service@lonestar.example' });
    expect(letters[0]!.text).toMatch(/From: Lone Star Comfort <service@lonestar\.example>[^]*Dana comes at noon\.\r\n\.\r\nSee you/);
    expect(letters[0]!.text).toContain(`Message-ID: <${row['id']}@lonestar.example>`);
    const { interaction } = await intake.getInteraction({ company_id: company.id, id: row['id'] });
    const record = {
      id: row['id'],
      channel: 'INTERACTION_CHANNEL_EMAIL',
      direction: 'INTERACTION_DIRECTION_OUTBOUND',
      status: 'INTERACTION_STATUS_COMPLETED',
      account: { id: set.account['id'], name: set.account['name'] },
      contact: { id: set.contact['id'], name: 'Marcus Oyelaran' },
      service_request_id: first,
      job_id: set.job['id'],
      duration_seconds: Math.floor((interaction!.ended_at! - interaction!.started_at) / 1_000_000),
    };
    expect(interaction).toMatchObject(record);
    const published = await harness.database.query<{ payload: Buffer }>({
      text: 'select payload from outbox where key = $1',
      values: [`${company.id}/${row['id']}`],
    });
    expect(published.rows.map(({ payload }) => InteractionCompleted.decode(payload))).toEqual([
      expect.objectContaining({ type: 'interaction.completed', sequence: 1, data: interaction }),
    ]);
  });

  test('without a given text names the visit and the technicians', async () => {
    const { address, visit } = await sent();
    const letter = mail.letters.find(({ to }) => to === address);
    expect(letter?.text).toContain(`Subject: Your appointment ${visit.number}`);
    expect(letter?.text).toContain('Dana Whitfield');
  });

  test.each([
    ['the recipient', 'refuse-recipient', '550'],
    ['the message', 'refuse-message', '554'],
  ] as const)('that the server refuses for %s is FAILED, with the server’s reply', async (_, behaviour, code) => {
    mail.behave(behaviour);
    const { row } = await sent();
    expect(row).toMatchObject({ status: 'FAILED', attempts: 1 });
    expect(row['detail']).toContain(code);
  });

  test.each([
    ['hangs up after the message', 'drop-after-data'],
    ['says nothing after the message', 'hang-after-data'],
  ] as const)('is UNKNOWN when the server %s, and is not sent again', async (_, behaviour) => {
    mail.behave(behaviour);
    const { row, address } = await sent();
    expect(row).toMatchObject({ status: 'UNKNOWN', attempts: 1 });
    mail.behave('accept');
    // Once a later notification is sent, the sender has polled again.
    await sent();
    expect(mail.letters.filter(({ to }) => to === address)).toHaveLength(1);
    await expect(harness.channel.client(IntakeServiceService).getInteraction({ company_id: company.id, id: row['id'] })).rejects.toMatchObject({ status: 404 });
  });

  test('stays queued for a server that hangs before the message or asks to come back', async () => {
    for (const behaviour of ['no-greeting', 'busy'] as const) {
      mail.behave(behaviour);
      const { visit, address } = await scene();
      await add(visit, {});
      const row = await attempted(visit);
      expect(row).toMatchObject({ status: 'QUEUED', attempts: 1 });
      mail.behave('accept');
      await harness.database.query({ text: 'update notifications set due_at = now() where id = $1', values: [row['id']] });
      expect(await outcome(visit)).toMatchObject({ status: 'SENT', attempts: 2 });
      expect(mail.letters.filter(({ to }) => to === address)).toHaveLength(1);
    }
  });
});

describe('a text message', () => {
  const mobile = (value: string) => ({ contact: { primary_channel: { type: 'MOBILE', value }, channels: [channel('MOBILE', value)] } });

  test('goes to the HTTP provider with the notification’s id as idempotency key', async () => {
    const { row } = await sent(mobile('+15125550142'), 'On our way');
    expect(row).toMatchObject({ status: 'SENT', channel: 'SMS' });
    expect(sms.requests.filter(({ headers }) => headers['idempotency-key'] === row['id'])).toEqual([
      expect.objectContaining({
        method: 'POST',
        body: { id: row['id'], to: '+15125550142', text: 'On our way' },
        headers: expect.objectContaining({ authorization: 'Bearer secret' }),
      }),
    ]);
  });

  test.each([
    [422, 'FAILED'],
    [500, 'UNKNOWN'],
    [302, 'UNKNOWN'],
    ['hang up', 'UNKNOWN'],
  ] as const)('that is answered with %s is %s', async (answer, status) => {
    sms.answer(answer);
    const { row } = await sent(mobile('+15125550143'));
    sms.answer(202);
    expect(row['status']).toBe(status);
  });
});

describe('between acceptance and delivery', () => {
  /** Queued while the only server is busy, so that the second attempt sees later changes. */
  async function waiting(scenery: Parameters<typeof scene>[0] = {}) {
    mail.behave('busy');
    const set = await scene(scenery);
    await add(set.visit, {});
    await attempted(set.visit);
    mail.behave('accept');
    return {
      ...set,
      retry: () => harness.database.query({ text: 'update notifications set due_at = now() where appointment_id = $1', values: [set.visit.id] }),
    };
  }

  test('a change of the visit suppresses the notification', async () => {
    const { visit, job, retry, address } = await waiting();
    await company.store('job-appointments', line.visit({ id: visit.id, job_id: job['id'], description: 'moved' }));
    await retry();
    expect(await outcome(visit)).toMatchObject({ status: 'SUPPRESSED', detail: 'the visit has changed' });
    expect(mail.letters.filter(({ to }) => to === address)).toEqual([]);
  });

  test('another address of the contact suppresses the notification', async () => {
    const { visit, contact, retry, address } = await waiting();
    const other = `${randomUUID()}@customer.example`;
    await company.store('contacts', { ...contact, primary_channel: { type: 'EMAIL', value: other }, channels: [channel('EMAIL', other)] });
    await retry();
    expect(await outcome(visit)).toMatchObject({ status: 'SUPPRESSED', detail: 'the contact’s primary channel has changed' });
    expect(mail.letters.filter(({ to }) => to === address || to === other)).toEqual([]);
  });

  const counted = async (outcome: string): Promise<number> => {
    const { body } = await harness.metrics.render();
    return Number(new RegExp(`^notifications_total\\{channel="EMAIL",outcome="${outcome}".* (\\S+)$`, 'm').exec(body)?.[1] ?? 0);
  };

  test('a contact’s opt-out suppresses the notification, which is counted as suppressed and not as sent', async () => {
    const { visit, contact, retry } = await waiting();
    const before = [await counted('SUPPRESSED'), await counted('SENT')] as const;
    await company.store('contacts', { ...contact, channels: [{ ...contact['channels'][0], opted_out: true }] });
    await retry();
    expect(await outcome(visit)).toMatchObject({ status: 'SUPPRESSED', detail: 'the contact has opted out' });
    // The outcome is counted after it is stored.
    await until(
      'the count of suppressed notifications',
      () => counted('SUPPRESSED'),
      (count) => count !== before[0],
    );
    expect([await counted('SUPPRESSED'), await counted('SENT')]).toEqual([before[0] + 1, before[1]]);
  }, 20_000);
});

test('stays UNKNOWN if its process dies between attempt and outcome', async () => {
  mail.behave('busy');
  const { visit, address } = await scene();
  await add(visit, {});
  const row = await attempted(visit);
  mail.behave('accept');
  await harness.database.query({
    text: `update notifications set status = 'ATTEMPTING', attempt_ends_at = now() - interval '1 second', due_at = now() where id = $1`,
    values: [row['id']],
  });
  expect(await outcome(visit)).toMatchObject({ status: 'UNKNOWN' });
  await sent();
  expect((await rows(visit))[0]).toMatchObject({ status: 'UNKNOWN' });
  expect(mail.letters.filter(({ to }) => to === address)).toEqual([]);
});
