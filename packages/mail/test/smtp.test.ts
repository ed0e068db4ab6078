// Messages to SMTP servers that lack an extension, or answer oddly at one step.
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { smtpProvider } from '../src/smtp.ts';

type Step = 'GREETING' | 'EHLO' | 'HELO' | 'MAIL' | 'RCPT' | 'DATA' | 'END';

const ANSWERS: Record<Step, string> = {
  GREETING: '220 ready',
  EHLO: '250 mail.example',
  HELO: '250 mail.example',
  MAIL: '250 ok',
  RCPT: '250 ok',
  DATA: '354 go on',
  END: '250 queued as 1',
};

/** Sends a message to a server with these answers. Resolves to the result, the commands and the message that the server received. */
async function send(answers: Partial<Record<Step, string>>, message: { address?: string; subject?: string; text?: string; from?: string } = {}) {
  const commands: string[] = [];
  let received: string | undefined;
  const server = createServer((socket) => {
    const answer = (step: Step): void => void socket.write(`${answers[step] ?? ANSWERS[step]}\r\n`);
    const refused = /^[45]/.test(answers.MAIL ?? answers.RCPT ?? '');
    let buffered = '';
    let body = false;
    socket.setEncoding('utf8').on('error', () => undefined);
    answer('GREETING');
    socket.on('data', (chunk: string) => {
      buffered += chunk;
      for (;;) {
        const end = buffered.indexOf(body ? '\r\n.\r\n' : '\r\n');
        if (end === -1) return;
        const text = buffered.slice(0, end);
        buffered = buffered.slice(end + (body ? 5 : 2));
        if (body) {
          received = text;
          body = false;
          answer('END');
          continue;
        }
        commands.push(text);
        const step = text.split(/[ :]/)[0] as Step;
        if (!(step in ANSWERS)) socket.end('221 bye\r\n');
        else if (step === 'DATA' && refused) socket.write('503 no recipients\r\n');
        else answer(step);
        body = step === 'DATA' && !refused && (answers.DATA ?? ANSWERS.DATA).startsWith('3');
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { from = 'Lone Star <service@lonestar.example>', ...given } = message;
  const provider = smtpProvider({ url: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`, from, timeoutMs: 10_000 });
  const result = await provider.send({ id: 'm-1', address: 'pat@example.com', subject: 'Hello', text: 'How are you?', ...given });
  server.close();
  return { ...result, commands, received };
}

const recipientsOf = (commands: readonly string[]) => commands.filter((command) => command.startsWith('RCPT'));

describe('to a server with neither SMTPUTF8 nor 8BITMIME', () => {
  test.each([
    ['pat@b\u00fccher.example', 'RCPT TO:<pat@xn--bcher-kva.example>'],
    ['pat@\u4f8b\u3048.example', 'RCPT TO:<pat@xn--r8jz45g.example>'],
    ['pat@BU\u0308CHER.example', 'RCPT TO:<pat@xn--bcher-kva.example>'],
    ["o'brien+a@example.com", "RCPT TO:<o'brien+a@example.com>"],
  ])('sends to %s as %s, in the header too', async (address, command) => {
    const { outcome, commands, received } = await send({}, { address });
    expect([outcome, recipientsOf(commands)]).toEqual(['SENT', [command]]);
    expect(received).toContain(`\nTo: ${command.slice(9, -1)}\r\n`);
  });

  test('sends from a domain outside ASCII in punycode, in the Message-ID too', async () => {
    const { outcome, commands, received } = await send({}, { from: 'Bücher <service@bücher.example>' });
    expect([outcome, commands[1]]).toEqual(['SENT', 'MAIL FROM:<service@xn--bcher-kva.example>']);
    expect(received).toContain('<m-1@xn--bcher-kva.example>');
    expect(received).toMatch(/^[\0-\x7f]*$/);
  });

  test.each([{ address: 'p\u00e4t@example.com' }, { from: 'p\u00e4t@example.com' }])('fails a message with the address %j with the reason', async (message) => {
    expect(await send({}, message)).toMatchObject({
      outcome: 'FAILED',
      detail: expect.stringMatching(/^the server cannot take this address: it lacks SMTPUTF8/),
    });
  });

  test.each<[string, { text?: string; subject?: string }]>([
    ['letters outside ASCII', { text: 'Grüße, 例え', subject: 'Grüße' }],
    ['a line of 5,000 characters', { text: 'x'.repeat(5000) }],
    ['a subject of 2,000 characters without a space', { subject: 'x'.repeat(2000) }],
    ['a line feed, carriage returns and a NUL', { text: 'a\nb\rc\r\n.\r\n\0' }],
  ])('sends %s in lines of ASCII that every server takes', async (_, message) => {
    const { outcome, received = '' } = await send({}, message);
    expect([outcome, received.match(/[^\x01-\x7f]/), Math.max(...received.split('\r\n').map(({ length }) => length)) <= 998]).toEqual(['SENT', null, true]);
    expect(received.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/);
  });
});

test('sends to a local part outside ASCII if the server has SMTPUTF8', async () => {
  const { outcome, commands } = await send({ EHLO: '250-mail.example\r\n250 SMTPUTF8' }, { address: 'p\u00e4t@b\u00fccher.example' });
  expect([outcome, commands.slice(1, 3)]).toEqual(['SENT', ['MAIL FROM:<service@lonestar.example> SMTPUTF8', 'RCPT TO:<p\u00e4t@b\u00fccher.example>']]);
});

test.each<[string, Partial<Record<Step, string>>]>([
  ['a greeting of several lines', { GREETING: '220-mail.example\r\n220-no spam\r\n220 ready' }],
  ['only HELO', { EHLO: '502 what?' }],
  ['only HELO, which it says by 500', { EHLO: '500 what?' }],
  ['PIPELINING', { EHLO: '250-mail.example\r\n250 PIPELINING' }],
  ['8BITMIME', { EHLO: '250-mail.example\r\n250 8BITMIME' }],
  ['SIZE without a number', { EHLO: '250-mail.example\r\n250 SIZE' }],
  ['SIZE 0, which is no limit', { EHLO: '250-mail.example\r\n250 SIZE 0' }],
  ['answers of several lines', { MAIL: '250-2.1.0\r\n250 ok', END: '250-2.0.0\r\n250 queued' }],
  ['251 for a recipient that it forwards', { RCPT: '251 will forward' }],
])('sends to a server with %s', async (_, answers) => {
  const { outcome, received } = await send(answers);
  expect([outcome, received?.includes('How are you?')]).toEqual(['SENT', true]);
});

test('fails a message that is larger than the server takes, and announces its size to others', async () => {
  const text = 'x'.repeat(70_000);
  expect(await send({ EHLO: '250-mail.example\r\n250 SIZE 65536' }, { text })).toMatchObject({
    outcome: 'FAILED',
    detail: 'Message size larger than allowed 65536',
    received: undefined,
  });
  const { outcome, commands } = await send({ EHLO: '250-mail.example\r\n250 SIZE 655360' }, { text });
  expect([outcome, commands[1]]).toEqual(['SENT', expect.stringMatching(/> SIZE=7\d{4}$/)]);
});

test.each<[Step, string, string]>([
  ['GREETING', '421 too many', 'UNTAKEN'],
  ['GREETING', '554 no', 'UNTAKEN'],
  ['EHLO', '421 too many', 'UNTAKEN'],
  ...(['MAIL', 'RCPT', 'DATA', 'END'] as const).flatMap((step): [Step, string, string][] => [
    [step, '421 too many', 'UNTAKEN'],
    [step, '451 try later', 'UNTAKEN'],
    [step, '452 full', 'UNTAKEN'],
    [step, '550 no', 'FAILED'],
  ]),
])('after the answer to %s is %j, a message is %s', async (step, answer, outcome) => {
  for (const ehlo of ['250 mail.example', '250-mail.example\r\n250 PIPELINING'])
    expect(await send({ EHLO: ehlo, [step]: answer })).toMatchObject({ outcome, detail: expect.stringContaining(answer) });
});

test.each(['a@example.com, b@example.com', 'a@example.com;b@example.com', 'Pat <pat@example.com>', 'pat', 'a@b@example.com', 'a@example.com\r\nDATA', ''])(
  'sends nothing to %j, which is not one address',
  async (address) => {
    expect(await send({}, { address })).toEqual({ outcome: 'FAILED', detail: 'this is not one e-mail address: correct it', commands: [], received: undefined });
  },
);
