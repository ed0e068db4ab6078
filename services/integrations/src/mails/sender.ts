// E-mails to users (decisions §7), sent in the background and at most once each.
import { createSender, forgetEnded, giveUp, hasWork, type Postbox, type Provider } from '@truckroll/mail';
import type { Database } from '@truckroll/postgres';
import type { BackgroundPart } from '@truckroll/process';
import type { Logger, Metrics } from '@truckroll/telemetry';
import { finish, postpone, suppress, take, type Mail } from './store.ts';

export interface MailSenderOptions {
  readonly database: Database;
  readonly provider: Provider;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly timeoutMs?: number | undefined;
}

/** Replicas share the queue by leases. A message that the provider refuses for good is logged and counted, and not tried again. */
export function mailSender({ database, provider, log, metrics, timeoutMs }: MailSenderOptions): BackgroundPart {
  const outcomes = metrics.counter('mails_total', 'E-mails to users by outcome', ['outcome']);
  const postbox: Postbox<Mail> = {
    hasWork: () => hasWork(database, 'mails'),
    forgetEnded: () => forgetEnded(database, 'mails'),
    giveUp: () => giveUp(database, 'mails'),
    async take(most, leaseMs) {
      for (const { id: message, user_id: user, detail } of await suppress(database)) {
        log.warn({ message, user, detail }, 'an e-mail to a user cannot be sent');
        outcomes.inc({ outcome: 'SUPPRESSED' });
      }
      return await take(database, most, leaseMs);
    },
    send: ({ id, address, subject, text }) => provider.send({ id, address, subject, text }),
    count: (_, outcome) => outcomes.inc({ outcome }),
    finish: (mail, outcome, detail) => finish(database, mail, outcome, detail),
    postpone: (mail, delayMs, detail) => postpone(database, mail, delayMs, detail),
  };
  return createSender({ name: 'e-mails to users', postbox, log, timeoutMs });
}
