import { env, type Config } from '@truckroll/service-kit';

/** Where e-mails go (docs/operations.md). */
export const mailSettings = {
  smtpUrl: env.optionalUrl('SMTP_URL'),
  /** Sender of e-mails: `Lone Star Comfort <service@example.com>`. */
  notificationFrom: env.optional('NOTIFICATION_FROM'),
  /** Takes, as files, the messages that have no provider. */
  notificationFolder: env.optional('NOTIFICATION_FOLDER'),
  /** How long a provider may take. */
  notificationTimeoutMs: env.duration('NOTIFICATION_TIMEOUT', 15_000),
};

/** A service that is given none of it refuses every message. */
export type MailConfig = Partial<Config<typeof mailSettings>>;
