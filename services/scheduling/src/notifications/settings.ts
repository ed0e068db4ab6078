import { mailSettings } from '@truckroll/mail';
import { env, type Config } from '@truckroll/service-kit';

/** Where customer notifications go (docs/operations.md). */
export const notificationSettings = {
  ...mailSettings,
  smsUrl: env.optionalUrl('SMS_URL'),
  smsToken: env.secret('SMS_TOKEN', ''),
};

/** A service that is given none of it refuses every message. */
export type NotificationConfig = Partial<Config<typeof notificationSettings>>;
