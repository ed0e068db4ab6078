// Delivers notifications in the background, at most once each (decisions §5).
import { createSender, forgetEnded, giveUp, hasWork, type Postbox } from '@truckroll/mail';
import type { Database } from '@truckroll/postgres';
import type { BackgroundPart } from '@truckroll/process';
import type { Logger, Metrics } from '@truckroll/telemetry';
import { recordSent } from './interaction.ts';
import type { Providers } from './providers.ts';
import { finish, postpone, take, type LeasedNotification } from './store.ts';

export interface NotificationSenderOptions {
  database: Database;
  providers: Providers;
  log: Logger;
  metrics: Metrics;
  /** Wakes the relay. */
  poke(): void;
  /** Timeout of a provider. */
  timeoutMs?: number | undefined;
}

/** Records each notification that was SENT as an interaction (decisions §6), in the transaction that stores the outcome. */
export function notificationSender({ database, providers, log, metrics, poke, timeoutMs }: NotificationSenderOptions): BackgroundPart {
  const outcomes = metrics.counter('notifications_total', 'Customer notifications by channel and outcome', ['channel', 'outcome']);
  const postbox: Postbox<LeasedNotification> = {
    hasWork: () => hasWork(database, 'notifications'),
    forgetEnded: () => forgetEnded(database, 'notifications'),
    giveUp: () => giveUp(database, 'notifications'),
    async take(most, leaseMs) {
      const { leases, suppressed } = await take(database, most, leaseMs);
      for (const channel of suppressed) outcomes.inc({ channel, outcome: 'SUPPRESSED' });
      return leases;
    },
    send: ({ id, channel, address, subject, text }) => providers[channel].send({ id, address, subject, text }),
    count: ({ channel }, outcome) => outcomes.inc({ channel, outcome }),
    async finish(lease, outcome, detail) {
      await database.transaction(async (tx) => {
        const ended = await finish(tx, lease, outcome, detail);
        if (ended !== undefined && outcome === 'SENT') await recordSent(tx, lease, ended.attempted_at, ended.finished_at);
      });
      poke();
    },
    postpone: (lease, delayMs, detail) => database.transaction((tx) => postpone(tx, lease, delayMs, detail)),
  };
  return createSender({ name: 'customer notifications', postbox, log, timeoutMs });
}
