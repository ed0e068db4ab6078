// Which provider the settings choose for e-mails, and how the SMTP provider logs in to a server.
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError } from '@truckroll/process';
import { createLog, silentLog } from '@truckroll/telemetry';
import { startMailServer, type MailServer } from '@truckroll/testing';
import { chooseMailProvider } from '@truckroll/mail';

const { spyOn } = jest;
const MESSAGE = { id: 'm-1', address: 'ana@example.com', subject: 'Hello', text: 'How are you?' };
const FROM = 'Truckroll <truckroll@operator.example>';

function logged() {
  const lines: unknown[] = [];
  const log = createLog('trial', 'info', {
    write: (line) => {
      const { level, channel, msg } = JSON.parse(line) as Record<string, unknown>;
      lines.push([level, channel, msg]);
    },
  });
  return { lines, log };
}

test('fails every message without a server and a folder, and says so in the log', async () => {
  const { lines, log } = logged();
  expect(await chooseMailProvider({}, log).send(MESSAGE)).toEqual({ outcome: 'FAILED', detail: 'no provider is configured: set SMTP_URL' });
  expect(lines).toEqual([['warn', 'EMAIL', 'neither SMTP_URL nor NOTIFICATION_FOLDER is set: messages fail']]);
});

test('writes messages to the folder without a server, and says so in the log', async () => {
  const notificationFolder = await mkdtemp(join(tmpdir(), 'truckroll-choose-'));
  const { lines, log } = logged();
  expect((await chooseMailProvider({ notificationFolder, notificationFrom: FROM }, log).send(MESSAGE)).outcome).toBe('SENT');
  expect(await readdir(notificationFolder)).toEqual([expect.stringMatching(/ email m-1\.txt$/)]);
  expect(lines).toEqual([['info', 'EMAIL', 'SMTP_URL is not set: messages are written to a folder instead of being sent']]);
  await rm(notificationFolder, { recursive: true });
});

test('needs a sender for its server', () => {
  const choose = () => chooseMailProvider({ smtpUrl: 'smtp://127.0.0.1:1', notificationFolder: '/tmp' }, silentLog);
  expect(choose).toThrow(ConfigError);
  expect(choose).toThrow('NOTIFICATION_FROM is missing');
});

describe('with a server that demands a login', () => {
  let server: MailServer;
  beforeAll(async () => void (server = await startMailServer({ user: 'ana', password: 'p@ss' })));
  afterAll(() => server.stop());
  const send = (login: string, more: { notificationTimeoutMs?: number } = {}) => {
    const smtpUrl = `smtp://${login}127.0.0.1:${server.port}?ignoreTLS=true`;
    return chooseMailProvider({ smtpUrl, notificationFrom: FROM, notificationFolder: '/tmp', ...more }, silentLog).send(MESSAGE);
  };

  test('sends a message from the sender after the login of the URL', async () => {
    expect(await send('ana:p%40ss@')).toMatchObject({ outcome: 'SENT' });
    expect(server.letters).toMatchObject([{ from: 'truckroll@operator.example', to: 'ana@example.com', text: expect.stringContaining('How are you?') }]);
  });

  test('tries a message again later whose login is refused, because an operator can correct it', async () => {
    expect(await send('ana:wrong@')).toEqual({ outcome: 'UNTAKEN', detail: '535 Wrong user or password' });
  });

  test('fails a message that the server takes only after a login', async () => {
    expect(await send('')).toMatchObject({ outcome: 'FAILED', detail: expect.stringMatching(/^530 /) });
  });

  test.each([
    [{}, 15_000],
    [{ notificationTimeoutMs: 4321 }, 4321],
  ])('limits an attempt with %j to %i ms', async (more, limit) => {
    const timers = spyOn(globalThis, 'setTimeout');
    try {
      expect(await send('ana:p%40ss@', more)).toMatchObject({ outcome: 'SENT' });
      expect(timers.mock.calls.map(([, ms]) => ms)).toContain(limit);
    } finally {
      timers.mockRestore();
    }
  });
});
