import { WebhookState } from '@truckroll/contract/gen/integrations/v1/webhooks';
import type { Database } from '@truckroll/postgres';
import { sendAlerts } from '../src/webhooks/health/alerts.ts';
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

  test('that answer 410 alert all their addresses at once', async () => {
    const one = await desk.endpoint();
    await desk.user(one.company.id, 'bo@example.com');
    await one.update({ alert_emails: { values: ['bo@example.com', 'ana@example.com'] } });
    await desk.fanOut(one.event());
    await desk.report((await desk.lease())[0]!, { response_status: 410 });
    expect(await mailsOf(one)).toEqual(['bo@example.com: Webhook endpoint disabled: Lead sync', 'ana@example.com: Webhook endpoint disabled: Lead sync']);
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
    await desk.report(second!);
    await sendAlerts(database);
    await sendAlerts(database);
    expect((await mailsOf(one)).slice(1)).toEqual(['ana@example.com: Webhook endpoint delivers again: Lead sync']);
  });
});
