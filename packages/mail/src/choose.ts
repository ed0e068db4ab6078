import type { Logger } from '@truckroll/telemetry';
import { folderProvider } from './folder.ts';
import type { Provider } from './provider.ts';
import { checkMail, type MailConfig } from './settings.ts';
import { smtpProvider } from './smtp.ts';

export const DEFAULT_TIMEOUT_MS = 15_000;

/** The SMTP provider from the configuration. Logs where e-mails go if there is none. Throws ConfigError. */
export function chooseMailProvider(config: MailConfig, log: Logger): Provider {
  checkMail(config);
  const { smtpUrl: url, notificationFrom: from = '', notificationTimeoutMs: timeoutMs = DEFAULT_TIMEOUT_MS } = config;
  if (url === undefined) return withoutProvider('EMAIL', 'SMTP_URL', config, log);
  return smtpProvider({ url, from, timeoutMs });
}

/** Handles messages of a channel whose provider `variable` is not set: writes them to a folder if one is set, else fails them. */
export function withoutProvider(channel: string, variable: string, { notificationFolder: folder }: MailConfig, log: Logger): Provider {
  if (folder !== undefined) {
    log.info({ channel, folder }, `${variable} is not set: messages are written to a folder instead of being sent`);
    return folderProvider(folder, channel);
  }
  log.warn({ channel }, `neither ${variable} nor NOTIFICATION_FOLDER is set: messages fail`);
  return { send: async () => ({ outcome: 'FAILED', detail: `no provider is configured: set ${variable}` }) };
}
