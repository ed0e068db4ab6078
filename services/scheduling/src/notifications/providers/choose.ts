import { ConfigError, type Logger } from '@truckroll/service-kit';
import type { Channel } from '../recipient.ts';
import type { NotificationConfig } from '../settings.ts';
import { emailProvider } from './email.ts';
import { folderProvider } from './folder.ts';
import type { Provider } from './provider.ts';
import { smsProvider } from './sms.ts';

export type Providers = Readonly<Record<Channel, Provider>>;

const VARIABLES: Readonly<Record<Channel, string>> = { EMAIL: 'SMTP_URL', SMS: 'SMS_URL' };
export const DEFAULT_TIMEOUT_MS = 15_000;

/** The providers that the configuration names. Says where messages go that reach nobody. Throws ConfigError. */
export function chooseProviders(config: NotificationConfig, log: Logger): Providers {
  const { smtpUrl, notificationFrom: from, smsUrl, smsToken = '', notificationTimeoutMs: timeoutMs = DEFAULT_TIMEOUT_MS } = config;
  if (smtpUrl !== undefined && from === undefined) throw new ConfigError('NOTIFICATION_FROM is missing: set it to the sender of e-mails, since SMTP_URL is set');
  return {
    EMAIL: smtpUrl === undefined || from === undefined ? withoutProvider('EMAIL', config, log) : emailProvider({ url: smtpUrl, from, timeoutMs }),
    SMS: smsUrl === undefined ? withoutProvider('SMS', config, log) : smsProvider({ url: smsUrl, token: smsToken, timeoutMs }),
  };
}

function withoutProvider(channel: Channel, { notificationFolder: folder }: NotificationConfig, log: Logger): Provider {
  const variable = VARIABLES[channel];
  if (folder !== undefined) {
    log.info({ channel, folder }, `${variable} is not set: messages are written to a folder and reach nobody`);
    return folderProvider(folder, channel);
  }
  log.warn({ channel }, `neither ${variable} nor NOTIFICATION_FOLDER is set: messages fail`);
  return { send: async () => ({ outcome: 'FAILED', detail: `no provider is configured: set ${variable}` }) };
}
