import { DEFAULT_TIMEOUT_MS, chooseMailProvider, withoutProvider, type Provider } from '@truckroll/mail';
import type { Logger } from '@truckroll/telemetry';
import type { NotificationChannel } from './recipient.ts';
import type { NotificationConfig } from './settings.ts';
import { smsProvider } from './providers/sms.ts';

export type Providers = Readonly<Record<NotificationChannel, Provider>>;

/** Logs what happens to messages of a channel without a provider. Throws ConfigError. */
export function chooseProviders(config: NotificationConfig, log: Logger): Providers {
  const { smsUrl: url, smsToken: token = '', notificationTimeoutMs: timeoutMs = DEFAULT_TIMEOUT_MS } = config;
  return {
    EMAIL: chooseMailProvider(config, log),
    SMS: url === undefined ? withoutProvider('SMS', 'SMS_URL', config, log) : smsProvider({ url, token, timeoutMs }),
  };
}
