// Drives nodemailer's connection step by step: whether a message may have been delivered depends on the step at which the
// connection broke, which `sendMail` does not reveal.
import { once } from 'node:events';
import { domainToASCII } from 'node:url';
import MailComposer from 'nodemailer/lib/mail-composer';
import SMTPConnection from 'nodemailer/lib/smtp-connection';
import addressparser from 'nodemailer/lib/addressparser';
import { parseConnectionUrl, takesUtf8 } from './driver/nodemailer.ts';
import type { Attempt, Provider } from './provider.ts';

export interface SmtpOptions {
  /** `smtp://user:password@host:587`, or `smtps://` for TLS from the start; see nodemailer for its query parameters. */
  readonly url: string;
  readonly from: string;
  readonly timeoutMs: number;
}

interface SmtpError extends Error {
  readonly code?: string | undefined;
  /** Set if the server answered. */
  readonly responseCode?: number | undefined;
  readonly response?: string | undefined;
  /** Node's error code, when nodemailer has put its own into `code`. */
  readonly originalCode?: string | undefined;
}

/** nodemailer's code, without an answer, for a message that is larger than the server's SIZE. */
const TOO_LARGE = 'EMESSAGE';

/** Maximum characters of a subject: without spaces it cannot be folded, and a line of SMTP has at most 998 bytes. */
const LONGEST_SUBJECT = 500;

interface Envelope {
  readonly from: string;
  readonly to: string;
}

/** Exactly one address without a name. */
const ADDRESS = /^[^\s@,;<>]+@[^\s@,;<>]+$/;

export function smtpProvider({ url, from, timeoutMs }: SmtpOptions): Provider {
  const options = parseConnectionUrl(url);
  const sender = addressOf(from);
  const domain = sender.slice(sender.lastIndexOf('@') + 1);
  return {
    async send(message) {
      if (!ADDRESS.test(message.address)) return { outcome: 'FAILED', detail: 'this is not one e-mail address: correct it' };
      const composed = new MailComposer({
        from,
        to: { name: '', address: message.address },
        subject: message.subject.slice(0, LONGEST_SUBJECT).toWellFormed(),
        text: message.text,
        messageId: `<${message.id}@${domainToASCII(domain) || domain}>`,
      }).compile();
      // The addresses of the headers: their domains are in punycode if the local part is ASCII.
      const [to = message.address] = composed.getEnvelope().to;
      const envelope = { from: composed.getEnvelope().from || sender, to };
      const raw = await composed.build();
      const connection = new SMTPConnection({
        ...options,
        connectionTimeout: timeoutMs,
        greetingTimeout: timeoutMs,
        socketTimeout: timeoutMs,
        dnsTimeout: timeoutMs,
      });
      const timer = setTimeout(() => connection.close(), timeoutMs);
      // Keeps an error between two steps from being thrown; the next step reports it.
      connection.on('error', () => undefined);
      try {
        return await exchange(connection, options.auth, envelope, raw);
      } finally {
        clearTimeout(timer);
        connection.close();
      }
    },
  };
}

async function exchange(connection: SMTPConnection, auth: { user: string; pass: string } | undefined, { from, to }: Envelope, raw: Buffer): Promise<Attempt> {
  try {
    await Promise.race([step((done) => connection.connect(done)), broken(connection)]);
    if (auth !== undefined) await Promise.race([step((done) => connection.login({ credentials: auth }, done)), broken(connection)]);
  } catch (error) {
    return { outcome: 'UNTAKEN', detail: detailOf(error as SmtpError) };
  }
  if (/[^\0-\x7f]/.test(from + to) && !takesUtf8(connection))
    return { outcome: 'FAILED', detail: 'the server cannot take this address: it lacks SMTPUTF8, which letters outside ASCII before the @ need' };
  try {
    const sent = step<{ response?: string | undefined }>((done) => connection.send({ from, to: [to], size: raw.length }, raw, done));
    const info = await Promise.race([sent, broken(connection)]);
    connection.quit();
    return { outcome: 'SENT', detail: info?.response ?? '' };
  } catch (thrown) {
    const error = thrown as SmtpError;
    const code = error.responseCode ?? 0;
    // RFC 5321: 5xx is permanent, 4xx is transient. Without a code the server may have accepted the message, unless it was never offered.
    const outcome = code >= 500 || (code === 0 && error.code === TOO_LARGE) ? 'FAILED' : code >= 400 ? 'UNTAKEN' : 'UNKNOWN';
    return { outcome, detail: detailOf(error) };
  }
}

/** Rejects when the connection ends, in case the current step's callback is never called. */
async function broken(connection: SMTPConnection): Promise<undefined> {
  await once(connection, 'end');
  throw new Error('the connection was closed');
}

function step<T>(begin: (done: (error?: Error | null, value?: T) => void) => void): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    begin((error, value) => (error ? reject(error) : resolve(value)));
  });
}

/** OpenSSL's messages contain memory addresses and source files, so TLS failures are reported by Node's code. */
function detailOf({ response, message, originalCode }: SmtpError): string {
  if (originalCode?.startsWith('ERR_SSL_')) return `the TLS handshake failed (${originalCode})`;
  return (response ?? message).slice(0, 500);
}

function addressOf(from: string): string {
  const [first] = addressparser(from) as { address?: string }[];
  return first?.address ?? from;
}
