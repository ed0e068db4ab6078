import { env, type Config } from '@truckroll/process';

/** Settings for sending e-mail (docs/operations.md). */
export const mailSettings = {
  smtpUrl: env.optionalUrl('SMTP_URL'),
  /** Sender of e-mails: `Lone Star Comfort <service@example.com>`. */
  notificationFrom: env.optional('NOTIFICATION_FROM'),
  notificationFolder: env.optional('NOTIFICATION_FOLDER'),
  /** Time limit of one attempt at the provider. */
  notificationTimeoutMs: env.duration('NOTIFICATION_TIMEOUT', 15_000),
};

/** With none of these settings, every message fails. */
export type MailConfig = Partial<Config<typeof mailSettings>>;
