// The e-mail about a disabled endpoint, with mail servers that accept, refuse, hang and disconnect.
import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startMailServer, type MailServer } from '@truckroll/testing';
import { until } from '@truckroll/testing/until';
import { FAILURE, startDesk } from './webhooks.ts';

type Desk = Awaited<ReturnType<typeof startDesk>>;
interface Mail {
  message_id: string;
  status: string;
  attempts: number;
  detail: string | null;
}

/** Disables an endpoint as five days of failure do. Resolves to its creator's address and functions that read and retry the e-mail. */
async function disable(desk: Desk, change?: (userId: string) => Promise<unknown>) {
  const email = `${randomUUID()}@example.com`;
  const one = await desk.endpoint({ email });
  await desk.fanOut(one.event(), one.event());
  const [first, second] = await desk.lease();
  await desk.report(first!, FAILURE);
  await desk.sql(`update webhook_endpoints set failing_since = now() - interval '5 days' where id = $1`, [one.id]);
  await change?.(one.user.id);
  expect(await desk.report(second!, FAILURE)).toMatchObject({ endpoint_disabled: true });
  const read = async () =>
    (await desk.sql('select message_id, status, attempts, detail from mails where company_id = $1', [one.company.id]))[0] as unknown as Mail;
  return { email, read, again: (id: string) => desk.sql('update mails set due_at = now() where message_id = $1', [id]) };
}

const ended = (read: () => Promise<Mail>, right = (mail: Mail) => !['QUEUED', 'ATTEMPTING'].includes(mail.status)): Promise<Mail> =>
  until('the end of a mail', read, right);

describe('with a mail server', () => {
  let desk: Desk;
  let server: MailServer;
  beforeAll(async () => {
    server = await startMailServer();
    const smtpUrl = `smtp://127.0.0.1:${server.port}?ignoreTLS=true`;
    desk = await startDesk({ smtpUrl, notificationFrom: 'Truckroll <truckroll@operator.example>', notificationTimeoutMs: 1500 });
  }, 60_000);
  beforeEach(() => server.behave('accept'));
  afterAll(async () => {
    await desk.stop();
    await server.stop();
  });
  const lettersTo = (address: string) => server.letters.filter(({ to }) => to === address);

  test('sends the creator of an endpoint one e-mail that says it was disabled, and why', async () => {
    const { email, read } = await disable(desk);
    const mail = await ended(read);
    expect(mail).toMatchObject({ status: 'SENT', attempts: 1 });
    // The limit of an attempt, 1.5 s here, and half a minute to store its outcome.
    const [row] = await desk.sql(`select attempt_ends_at - attempted_at = interval '31.5 seconds' as right from mails where message_id = $1`, [
      mail.message_id,
    ]);
    expect(row).toEqual({ right: true });
    expect(await desk.metrics()).toMatch(/^mails_total\{.*outcome="SENT".*\} 1$/m);
    const [letter, ...more] = lettersTo(email);
    expect(more).toEqual([]);
    expect(letter).toMatchObject({ from: 'truckroll@operator.example' });
    expect(letter!.text).toContain(`Message-ID: <${mail.message_id}@operator.example>`);
    expect(letter!.text).toMatch(/Subject: Webhook endpoint disabled: Lead sync[^]*\(example\.com\) has answered nothing but[^]*recover what was skipped/);
  });

  test.each([
    ['the recipient', 'refuse-recipient', '550'],
    ['the message', 'refuse-message', '554'],
  ] as const)('marks an e-mail FAILED, with the answer of the server, if it refuses %s', async (_, behaviour, code) => {
    server.behave(behaviour);
    const mail = await ended((await disable(desk)).read);
    expect(mail).toMatchObject({ status: 'FAILED', attempts: 1 });
    expect(mail.detail).toContain(code);
  });

  test.each([
    ['hangs up after the message', 'drop-after-data'],
    ['says nothing after the message', 'hang-after-data'],
  ] as const)('marks an e-mail UNKNOWN if the server %s, and does not send it again', async (_, behaviour) => {
    server.behave(behaviour);
    const { email, read } = await disable(desk);
    expect(await ended(read)).toMatchObject({ status: 'UNKNOWN', attempts: 1 });
    server.behave('accept');
    // A later e-mail has ended, so the sender has polled since.
    await ended((await disable(desk)).read);
    expect(await read()).toMatchObject({ status: 'UNKNOWN' });
    expect(lettersTo(email)).toHaveLength(1);
  });

  test('retries an e-mail if the server hangs before accepting anything or asks to try later', async () => {
    for (const behaviour of ['no-greeting', 'busy'] as const) {
      server.behave(behaviour);
      const { email, read, again } = await disable(desk);
      const mail = await ended(read, ({ detail }) => detail !== null);
      expect(mail).toMatchObject({ status: 'QUEUED', attempts: 1 });
      server.behave('accept');
      await again(mail.message_id);
      expect(await ended(read)).toMatchObject({ status: 'SENT', attempts: 2 });
      expect(lettersTo(email)).toHaveLength(1);
    }
  });

  test('marks the attempt of a dead process UNKNOWN for good', async () => {
    server.behave('busy');
    const { email, read } = await disable(desk);
    const mail = await ended(read, ({ detail }) => detail !== null);
    server.behave('accept');
    await desk.sql(`update mails set status = 'ATTEMPTING', attempt_ends_at = now() - interval '1 second', due_at = now() where message_id = $1`, [
      mail.message_id,
    ]);
    expect(await ended(read)).toMatchObject({ status: 'UNKNOWN' });
    await ended((await disable(desk)).read);
    expect(lettersTo(email)).toEqual([]);
  });

  test.each([
    ['has no e-mail address', `update users set email = '' where id = $1`, 'the user has no e-mail address'],
    ['is not active', 'update users set active = false where id = $1', 'the user is not active any more'],
    ['has moved to another company', 'update users set company_id = $2 where id = $1', 'the user has left the company'],
  ])('suppresses the e-mail to a user who %s, and records it', async (_, statement, detail) => {
    const elsewhere = await desk.company('Elsewhere');
    const { email, read } = await disable(desk, (userId) => desk.sql(statement, statement.includes('$2') ? [userId, elsewhere.id] : [userId]));
    expect(await ended(read)).toMatchObject({ status: 'SUPPRESSED', attempts: 0, detail });
    expect(lettersTo(email)).toEqual([]);
    const suppressed = await desk.sql(`select from mails where status = 'SUPPRESSED'`);
    // It is counted right after it is stored.
    const isCounted = async () => new RegExp(`^mails_total\\{.*outcome="SUPPRESSED".*\\} ${suppressed.length}$`, 'm').test(await desk.metrics());
    await until('the count of suppressed mails', isCounted);
  });
});

test('reports a mail server that does not speak TLS by code, without the text of OpenSSL', async () => {
  const server = await startMailServer();
  const desk = await startDesk({ smtpUrl: `smtps://127.0.0.1:${server.port}`, notificationFrom: 'Truckroll <truckroll@operator.example>' });
  try {
    const mail = await ended((await disable(desk)).read, ({ detail }) => detail !== null);
    expect(mail).toMatchObject({ status: 'QUEUED', detail: expect.stringMatching(/^the TLS handshake failed \(ERR_SSL_[A-Z0-9_]+\)$/) });
  } finally {
    await desk.stop();
    await server.stop();
  }
});

test('keeps the result of an e-mail for 90 days', async () => {
  const desk = await startDesk();
  try {
    const one = await desk.endpoint();
    await desk.sql(
      `insert into mails (company_id, user_id, subject, body, status, finished_at)
       select $1, $2, days::text, '', 'SENT', now() - days * interval '1 day' from unnest(array_fill(91, array[1001]) || 89) days`,
      [one.company.id, one.user.id],
    );
    await desk.restart();
    const kept = () => desk.sql('select subject from mails');
    await until('one mail to be left', kept, (mails) => mails.length <= 1);
    expect(await kept()).toEqual([{ subject: '89' }]);
  } finally {
    await desk.stop();
  }
});

test('writes the e-mail to a file in the message folder if there is no mail server', async () => {
  const notificationFolder = await mkdtemp(join(tmpdir(), 'truckroll-mails-'));
  const desk = await startDesk({ notificationFolder });
  try {
    const { email, read } = await disable(desk);
    expect(await ended(read)).toMatchObject({ status: 'SENT' });
    const [file, ...more] = await readdir(notificationFolder);
    expect(more).toEqual([]);
    expect(await readFile(join(notificationFolder, file!), 'utf8')).toMatch(new RegExp(`^To: ${email}\nSubject: Webhook endpoint disabled: Lead sync\n`));
  } finally {
    await desk.stop();
    await rm(notificationFolder, { recursive: true });
  }
});
