// Drives nodemailer's connection step by step: whether a message may have been delivered depends on the step at which the
// connection broke, which `sendMail` does not reveal.
import { once } from 'node:events';
import MailComposer from 'nodemailer/lib/mail-composer';
import { parseConnectionUrl } from 'nodemailer/lib/shared';
import SMTPConnection from 'nodemailer/lib/smtp-connection';
import addressparser from 'nodemailer/lib/addressparser';
import type { Attempt, OutgoingMessage, Provider } from './provider.ts';

export interface SmtpOptions {
  /** `smtp://user:password@host:587`, or `smtps://` for TLS from the start; see nodemailer for its query parameters. */
  readonly url: string;
  readonly from: string;
  readonly timeoutMs: number;
}

interface SmtpError extends Error {
  /** Set if the server answered. */
  readonly responseCode?: number | undefined;
  readonly response?: string | undefined;
  /** Node's error code, when nodemailer has put its own into `code`. */
  readonly originalCode?: string | undefined;
}

export function smtpProvider({ url, from, timeoutMs }: SmtpOptions): Provider {
  const options = parseConnectionUrl(url);
  const sender = addressOf(from);
  return {
    async send(message) {
      const raw = await new MailComposer({
        from,
        to: message.address,
        subject: message.subject,
        text: message.text,
        messageId: `<${message.id}@${sender.split('@').at(-1)}>`,
      })
        .compile()
        .build();
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
        return await exchange(connection, options.auth, sender, message, raw);
      } finally {
        clearTimeout(timer);
        connection.close();
      }
    },
  };
}

async function exchange(
  connection: SMTPConnection,
  auth: { user: string; pass: string } | undefined,
  from: string,
  message: OutgoingMessage,
  raw: Buffer,
): Promise<Attempt> {
  try {
    await Promise.race([step((done) => connection.connect(done)), broken(connection)]);
    if (auth !== undefined) await Promise.race([step((done) => connection.login({ credentials: auth }, done)), broken(connection)]);
  } catch (error) {
    return { outcome: 'UNTAKEN', detail: detailOf(error as SmtpError) };
  }
  try {
    const sent = step<{ response?: string | undefined }>((done) => connection.send({ from, to: [message.address] }, raw, done));
    const info = await Promise.race([sent, broken(connection)]);
    connection.quit();
    return { outcome: 'SENT', detail: info?.response ?? '' };
  } catch (thrown) {
    const error = thrown as SmtpError;
    const code = error.responseCode ?? 0;
    // RFC 5321: 5xx is permanent, 4xx is transient. Without a code the server may have accepted the message.
    const outcome = code >= 500 ? 'FAILED' : code >= 400 ? 'UNTAKEN' : 'UNKNOWN';
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
