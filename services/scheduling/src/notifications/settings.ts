import { mailSettings } from '@truckroll/mail';
import { env, type Config } from '@truckroll/process';

export const notificationSettings = {
  ...mailSettings,
  smsUrl: env.optionalUrl('SMS_URL'),
  smsToken: env.secret('SMS_TOKEN', ''),
};

/** Without these settings, every message fails. */
export type NotificationConfig = Partial<Config<typeof notificationSettings>>;
