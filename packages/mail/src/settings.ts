import { ConfigError, env, type Config } from '@truckroll/process';

/** Settings for sending e-mail (docs/how-to/notifications.md). */
export const mailSettings = {
  /** E-mail server: `smtp://user:password@host:587`, or `smtps://` for TLS from the start. */
  smtpUrl: env.optionalUrl('SMTP_URL', ['smtp', 'smtps']),
  /** Sender of e-mails, such as `Lone Star Comfort <service@example.com>`. Required with SMTP_URL. */
  notificationFrom: env.optional('NOTIFICATION_FROM'),
  /** Folder for messages of a channel without a provider; `npm start` sets `.truckroll/outgoing`. Without it they fail. */
  notificationFolder: env.optional('NOTIFICATION_FOLDER'),
  /** Time limit of one attempt at the provider. */
  notificationTimeoutMs: env.duration('NOTIFICATION_TIMEOUT', 15_000),
};

/** With none of these settings, every message fails. */
export type MailConfig = Partial<Config<typeof mailSettings>>;

/** Throws ConfigError if e-mails would have a server but no sender. */
export function checkMail({ smtpUrl, notificationFrom }: MailConfig): void {
  if (smtpUrl !== undefined && notificationFrom === undefined)
    throw new ConfigError('NOTIFICATION_FROM is missing: set it to the sender of e-mails, since SMTP_URL is set');
}
