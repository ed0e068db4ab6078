import { now } from '@truckroll/contract';
import { WebhookState } from '@truckroll/contract/gen/integrations/v1/webhooks';
import type { Database } from '@truckroll/postgres';
import { alertIfDue, sendAlerts } from '../src/webhooks/health/alerts.ts';
import { refusal } from './harness.ts';
import { FAILURE, startDesk } from './webhooks.ts';

describe('endpoints', () => {
  let desk: Awaited<ReturnType<typeof startDesk>>;
  let database: Database;
  beforeAll(async () => {
    desk = await startDesk();
    database = desk.openDatabase();
  }, 60_000);
  afterEach(() => desk.sql('delete from webhook_queue'));
  afterAll(() => desk.stop());

  const mailsOf = async (one: { company: { id: string } }) =>
    (await desk.sql('select u.email, m.subject from mails m join users u on u.id = m.user_id where m.company_id = $1 order by m.id', [one.company.id])).map(
      ({ email, subject }) => `${email}: ${subject}`,
    );

  test('have their creator as the address of alerts, or up to five users of the company', async () => {
    const one = await desk.endpoint();
    await desk.user(one.company.id, 'Bo@example.com');
    expect((await one.read()).alert_emails).toEqual(['ana@example.com']);
    const set = async (...values: string[]) => (await one.update({ alert_emails: { values } })).data?.alert_emails;
    expect(await set('bo@EXAMPLE.com', 'ana@example.com', 'bo@example.com')).toEqual(['Bo@example.com', 'ana@example.com']);
    expect((await one.update({ url: 'https://example.com/other' })).data?.alert_emails).toEqual(['Bo@example.com', 'ana@example.com']);
    expect(await set()).toEqual([]);
    const other = await desk.endpoint({ email: 'eve@example.com' });
    for (const stranger of ['eve@example.com', 'unknown@example.com']) {
      expect((await refusal(set('ana@example.com', stranger))).details).toMatchObject([{ field: 'alertEmails[1]' }]);
    }
    expect((await other.read()).alert_emails).toEqual(['eve@example.com']);
    const request = {
      caller: one.caller,
      name: 'Two',
      url: 'https://example.com',
      event_types: ['service_request.created'],
      alert_emails: { values: ['bo@example.com'] },
    };
    expect((await desk.webhooks.createWebhook(request)).data?.alert_emails).toEqual(['Bo@example.com']);
  });

  test.each([
    ['is inactive', 'update users set active = false where id = $1'],
    ['has left the company', 'update users set company_id = $2 where id = $1'],
  ])('have no address of a user who %s, and refuse it as that of a stranger', async (_, statement) => {
    const one = await desk.endpoint();
    const bo = await desk.user(one.company.id, 'bo@example.com');
    const elsewhere = await desk.company('Elsewhere');
    const set = async (...values: string[]) => (await one.update({ alert_emails: { values } })).data?.alert_emails;
    expect(await set('bo@example.com', 'ana@example.com')).toEqual(['bo@example.com', 'ana@example.com']);
    await desk.sql(statement, statement.includes('$2') ? [bo.id, elsewhere.id] : [bo.id]);
    expect((await one.read()).alert_emails).toEqual(['ana@example.com']);
    expect((await refusal(set('bo@example.com'))).details).toMatchObject([{ field: 'alertEmails[0]' }]);
  });

  test('that are paused send no alert, however long they have failed', async () => {
    const one = await desk.endpoint();
    await desk.fanOut(one.event());
    await desk.report((await desk.lease())[0]!, FAILURE);
    await one.update({ state: WebhookState.PAUSED });
    await desk.sql(`update webhook_endpoints set failing_since = now() - interval '2 hours' where id = $1`, [one.id]);
    await sendAlerts(database);
    expect(await mailsOf(one)).toEqual([]);
  });

  test.each<[string, string, RegExp]>([
    [
      'have failed for an hour',
      `failing_since = '2026-03-01T06:00:00Z'`,
      /^The webhook endpoint "Lead sync" \(example\.com\) has answered nothing but failures since 2026-03-01T06:00:00Z\.\n\nIts events are kept/,
    ],
    [
      'were disabled for failing',
      `enabled = false, disabled_reason = 'FAILING', failing_since = '2026-03-01T06:00:00Z', alerted_at = '2026-03-02T06:00:00Z', alerted_for = 'HOUR'`,
      /nothing but failures for five days, since 2026-03-01T06:00:00Z\.\n\nIt has been disabled\. Events from now on are kept as skipped, .*\n\nOnce it answers/,
    ],
    [
      'were disabled for being gone',
      `enabled = false, disabled_reason = 'GONE', alerted_at = '2026-03-02T06:00:00Z', alerted_for = 'HOUR'`,
      /has answered 410 Gone, which asks for no more events\.\n\nIt has been disabled\. .*\n\nOnce it answers again, enable it and recover/,
    ],
  ])('that %s are described in an e-mail that says what happens to their events', async (_, change, body) => {
    const one = await desk.endpoint();
    await desk.sql(`update webhook_endpoints set ${change} where id = $1`, [one.id]);
    await sendAlerts(database);
    const [mail] = await desk.sql('select body from mails where company_id = $1', [one.company.id]);
    expect(mail!['body']).toMatch(body);
  });

  test('that were deleted while they failed send no alert', async () => {
    const one = await desk.endpoint();
    await desk.sql(`update webhook_endpoints set failing_since = now() - interval '2 hours', deleted_at = now() where id = $1`, [one.id]);
    await sendAlerts(database);
    await database.transaction((tx) => alertIfDue(tx, one.company.id, one.id, now()));
    expect(await mailsOf(one)).toEqual([]);
  });

  test('that answer 410 alert all their addresses at once', async () => {
    const one = await desk.endpoint();
    await desk.user(one.company.id, 'bo@example.com');
    await one.update({ alert_emails: { values: ['bo@example.com', 'ana@example.com'] } });
    await desk.fanOut(one.event());
    await desk.report((await desk.lease())[0]!, { response_status: 410 });
    expect(await mailsOf(one)).toEqual(['bo@example.com: Webhook endpoint disabled: Lead sync', 'ana@example.com: Webhook endpoint disabled: Lead sync']);
  });

  test('that answer a test with 410 are disabled without an alert, and a failed test begins no failure', async () => {
    const one = await desk.endpoint();
    const tested = async (fields: object) => {
      const { data } = await desk.webhooks.testWebhook({ caller: one.caller, id: one.id });
      await desk.report((await desk.lease()).find(({ delivery_id }) => delivery_id === data!.id)!, fields);
    };
    await tested(FAILURE);
    expect((await one.read()).health?.failing_since).toBeNull();
    await tested({ response_status: 410 });
    expect(await one.read()).toMatchObject({ enabled: false, disabled_reason: 'DISABLED_REASON_GONE' });
    await sendAlerts(database);
    expect(await mailsOf(one)).toEqual([]);
  });

  test('alert about five days of failures even if a test was the last of them, and a successful test ends them', async () => {
    const one = await desk.endpoint();
    const tested = async (fields: object) => {
      await desk.sql(`update webhook_endpoints set failing_since = now() - interval '5 days' where id = $1`, [one.id]);
      await desk.webhooks.testWebhook({ caller: one.caller, id: one.id });
      await desk.report((await desk.lease())[0]!, fields);
    };
    await tested({});
    expect((await one.read()).health?.failing_since).toBeNull();
    await tested(FAILURE);
    expect(await mailsOf(one)).toEqual(['ana@example.com: Webhook endpoint disabled: Lead sync']);
  });

  test('send at most ten e-mails a day to one user of a company, over all endpoints, and the tenth says so', async () => {
    const one = await desk.endpoint();
    const bo = await desk.user(one.company.id, 'bo@example.com');
    await desk.sql(`insert into company_budgets values ($1, 'mail ' || $2, (now() at time zone 'UTC')::date - 1, 10)`, [one.company.id, bo.id]);
    const gone = async (...emails: string[]) => {
      const fields = { name: 'Lead sync', url: 'https://example.com', event_types: ['service_request.created'], alert_emails: { values: emails } };
      const { data } = await desk.webhooks.createWebhook({ caller: one.caller, ...fields });
      await desk.sql(`update webhook_endpoints set enabled = false, disabled_reason = 'GONE' where id = $1`, [data!.id]);
      await database.transaction((tx) => alertIfDue(tx, one.company.id, data!.id, now()));
      await desk.webhooks.deleteWebhook({ caller: one.caller, id: data!.id });
    };
    for (let i = 0; i < 11; i++) await gone('ana@example.com');
    for (let i = 0; i < 11; i++) await gone('ana@example.com', 'bo@example.com');
    const mails = await desk.sql('select u.email, m.body from mails m join users u on u.id = m.user_id where m.company_id = $1 order by m.id', [
      one.company.id,
    ]);
    expect(mails.map(({ email }) => email as string)).toEqual([...Array(10).fill('ana@example.com'), ...Array(10).fill('bo@example.com')]);
    const last = mails.map(({ body }) => /\n\nThis is the last e-mail about webhook endpoints today/.test(body as string));
    expect(last).toEqual([...Array(9).fill(false), true, ...Array(9).fill(false), true]);
  });

  test.each([
    ['Lead sync', 'Lead sync'],
    ['Invoice overdue! Pay at https://evil.example/x', 'Invoice overdue Pay at https evil exampl'],
    ["Zoë's CRM-2_b 東京", "Zoë's CRM-2_b 東京"],
    ['\u202egnp.exe <b>', 'gnp exe b'],
    ['😀 …', 'without a name'],
    ['x'.repeat(100), 'x'.repeat(40)],
  ])('have a plain and short name in e-mails: %j', async (name, plain) => {
    const one = await desk.endpoint();
    await desk.sql(`update webhook_endpoints set enabled = false, disabled_reason = 'GONE', name = $2 where id = $1`, [one.id, name]);
    await database.transaction((tx) => alertIfDue(tx, one.company.id, one.id, now()));
    const [mail] = await desk.sql('select subject, body from mails where company_id = $1', [one.company.id]);
    expect(mail).toMatchObject({ subject: `Webhook endpoint disabled: ${plain}`, body: expect.stringContaining(`"${plain}" (example.com) has answered 410`) });
  });

  test('that fail for an hour send one alert, and one e-mail when they accept deliveries again', async () => {
    const one = await desk.endpoint();
    await desk.fanOut(one.event(), one.event());
    const [first, second] = await desk.lease();
    await desk.report(first!, FAILURE);
    await desk.sql(`update webhook_endpoints set failing_since = failing_since - interval '1 hour' where id = $1`, [one.id]);
    await sendAlerts(database);
    await sendAlerts(database);
    expect(await mailsOf(one)).toEqual(['ana@example.com: Webhook endpoint failing: Lead sync']);
    const [{ alerted_at: alertedAt }] = (await desk.sql('select alerted_at from webhook_endpoints where id = $1', [one.id])) as [{ alerted_at: number }];
    await desk.report(second!);
    await sendAlerts(database);
    await sendAlerts(database);
    expect((await mailsOf(one)).slice(1)).toEqual(['ana@example.com: Webhook endpoint delivers again: Lead sync']);
    // The next alert is not due on the day of this one.
    const [row] = await desk.sql('select alerted_at, alerted_for from webhook_endpoints where id = $1', [one.id]);
    expect(row).toEqual({ alerted_at: alertedAt, alerted_for: null });
  });
});
