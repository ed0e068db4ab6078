// The mail server may have received a message whose process was killed, so the next process must not send it again (decisions §5).
import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { encodeFragment } from '@truckroll/contract';
import { Account } from '@truckroll/contract/gen/scheduling/v1/accounts';
import { Contact } from '@truckroll/contract/gen/scheduling/v1/contacts';
import { Visit } from '@truckroll/contract/gen/scheduling/v1/job_appointments';
import { acceptanceOf } from '@truckroll/grpc';
import { Database } from '@truckroll/postgres';
import { freshDatabase, startMailServer, testCallers, testConfig, withoutKafka, type MailServer, type TestDatabase } from '@truckroll/testing';
import { until } from '@truckroll/testing/until';
import { createScheduling } from '../src/scheduling.ts';
import { schema } from '../src/schema.ts';

const companyId = randomUUID();
const address = 'marcus@customer.example';
let fresh: TestDatabase;
let database: Database;
let mail: MailServer;
let child: ChildProcess | undefined;

beforeAll(async () => {
  fresh = await freshDatabase({ [schema.schema]: schema.migrations });
  database = new Database({ url: fresh.url, schema: 'scheduling', maxConnections: 2 });
  mail = await startMailServer();
}, 60_000);
afterAll(async () => {
  child?.kill('SIGKILL');
  await database.close();
  await mail.stop();
  await fresh.drop();
});

/** Uses any free ports. Kafka is unreachable, which does not affect notifications. */
const environment = () => ({
  PATH: process.env['PATH'],
  HOST: '127.0.0.1',
  PORT: '0',
  METRICS_PORT: '0',
  DATABASE_URL: fresh.url,
  KAFKA_BROKERS: '127.0.0.1:1',
  CALLER_CREDENTIALS: testCallers.map(acceptanceOf).join(),
  SMTP_URL: `smtp://127.0.0.1:${mail.port}?ignoreTLS=true`,
  NOTIFICATION_FROM: 'service@lonestar.example',
  NOTIFICATION_TIMEOUT: '60s',
});

async function queue(): Promise<string> {
  const [id, accountId, contactId, visitId, jobId] = Array.from({ length: 5 }, () => randomUUID());
  const revision = 'a'.repeat(64);
  const account = encodeFragment(Account, { id: accountId as string, name: 'Whitfield Residence', notifications_enabled: true });
  const contact = encodeFragment(Contact, { id: contactId as string, name: 'Marcus', primary_channel: { type: 'CONTACT_CHANNEL_TYPE_EMAIL', value: address } });
  const insert = (table: string, values: Record<string, unknown>) =>
    database.query({
      text: `insert into ${table} (${Object.keys(values).join(', ')}) values (${Object.keys(values)
        .map((_, i) => `$${i + 1}`)
        .join(', ')})`,
      values: Object.values(values),
    });
  const record = { company_id: companyId, created_at: '2026-03-01T15:00:00Z', updated_at: '2026-03-01T15:00:00Z' };
  await insert('accounts', { ...record, id: accountId, type: 'RESIDENTIAL', archived: false, document: Buffer.from(account) });
  await insert('contacts', { ...record, id: contactId, account_id: accountId, archived: false, document: Buffer.from(contact) });
  await insert('job_appointments', {
    ...record,
    id: visitId,
    job_id: jobId,
    dispatch_status: 'ASSIGNED',
    confirmed: false,
    canceled: false,
    starts_at: '2026-03-02T15:00:00Z',
    document: Buffer.alloc(0),
    derived: Buffer.from(encodeFragment(Visit, { revision })),
  });
  await insert('notifications', {
    company_id: companyId,
    id,
    appointment_id: visitId,
    job_id: jobId,
    account_id: accountId,
    contact_id: contactId,
    revision,
    channel: 'EMAIL',
    address,
    subject: 'Your appointment',
    message: 'Dana comes at noon.',
  });
  return id as string;
}

/** Timeout that reports what is known about the cause. */
const MOST_MS = 100_000;
const said: string[] = [];
async function explained<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      void database.query({ text: 'select status, attempts, detail, due_at, attempt_ends_at from notifications' }).then(({ rows }) => {
        reject(new Error(`nothing came of ${JSON.stringify(rows)}; the process said:\n${said.join('\n')}`));
      }, reject);
    }, MOST_MS);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

async function letters(count: number): Promise<void> {
  while (mail.letters.length < count) await mail.arrival();
}

const row = async (id: string) =>
  (await database.query<{ status: string }>({ text: 'select status from notifications where id = $1', values: [id] })).rows[0]?.status;

test(
  'leaves an attempt that is UNKNOWN to the next process once its time is over, and never sends it again',
  async () => {
    mail.behave('hang-after-data');
    const id = await queue();
    child = spawn(process.execPath, [join(import.meta.dirname, '../src/main.ts')], { stdio: ['ignore', 'pipe', 'inherit'], env: environment() });
    createInterface({ input: child.stdout! }).on('line', (text) => said.push(text));
    await explained(letters(1));
    expect(await row(id)).toBe('ATTEMPTING');
    child.kill('SIGKILL');
    await once(child, 'exit');

    mail.behave('accept');
    const next = createScheduling({
      ...testConfig,
      ...withoutKafka,
      databaseUrl: fresh.url,
      smtpUrl: environment().SMTP_URL,
      notificationFrom: 'service@lonestar.example',
    });
    await next.start();
    try {
      await database.query({ text: `update notifications set attempt_ends_at = now() - interval '1 second' where id = $1`, values: [id] });
      expect(
        await until(
          'an outcome',
          () => row(id),
          (status) => status !== 'ATTEMPTING',
        ),
      ).toBe('UNKNOWN');
      // Once a later notification is sent, the sender has polled again.
      const later = await queue();
      await explained(letters(2));
      expect(mail.letters.map(({ text }) => /Message-ID: <(.*)@/.exec(text)?.[1])).toEqual([id, later]);
      expect(await row(id)).toBe('UNKNOWN');
    } finally {
      await next.destroy();
    }
  },
  2 * MOST_MS,
);
