import { env, type Config } from '@truckroll/service-kit';

/** Where customer notifications go (docs/operations.md). */
export const notificationSettings = {
  smtpUrl: env.optionalUrl('SMTP_URL'),
  /** Sender of e-mails: `Lone Star Comfort <service@example.com>`. */
  notificationFrom: env.optional('NOTIFICATION_FROM'),
  smsUrl: env.optionalUrl('SMS_URL'),
  smsToken: env.secret('SMS_TOKEN', ''),
  /** Takes, as files, the messages of those channels that have no provider. */
  notificationFolder: env.optional('NOTIFICATION_FOLDER'),
  /** How long a provider may take. */
  notificationTimeoutMs: env.duration('NOTIFICATION_TIMEOUT', 15_000),
};

/** A service that is given none of it refuses every message. */
export type NotificationConfig = Partial<Config<typeof notificationSettings>>;
