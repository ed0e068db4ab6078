import { mailSettings } from '@truckroll/mail';
import { env, type Config } from '@truckroll/process';

export const notificationSettings = {
  ...mailSettings,
  /** Address of the text-message provider. */
  smsUrl: env.optionalUrl('SMS_URL', ['http', 'https']),
  /** Bearer token of the text-message provider. */
  smsToken: env.secret('SMS_TOKEN', ''),
};

/** Without these settings, every message fails. */
export type NotificationConfig = Partial<Config<typeof notificationSettings>>;
