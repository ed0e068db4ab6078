// Endpoints that are removed by themselves, such as those of `truckroll listen`, which may crash before it removes its own.
import { formatInstant } from '@truckroll/contract';
import { notFreezing, type Database, type Transaction } from '@truckroll/postgres';
import { PeriodicTask, type BackgroundPart } from '@truckroll/process';
import type { Logger } from '@truckroll/telemetry';
import type { SecretBox } from './secrets.ts';
import { auditRemoval } from './audit.ts';
import { markDeleted, selectEndpoint } from './store.ts';

const EVERY_MS = 15_000;
const REMOVED_AT_ONCE = 100;

/** `expiresAt` in microseconds since 1970; 0 removes it, and null and undefined keep it. Call `lockEndpoint` before. */
export async function setExpiry(tx: Transaction, companyId: string, id: string, expiresAt: number | null | undefined): Promise<void> {
  if (expiresAt == null) return;
  await tx.query({
    name: 'set_webhook_expiry',
    text: 'update webhook_endpoints set expires_at = $3 where company_id = $1 and id = $2',
    values: [companyId, id, expiresAt === 0 ? null : formatInstant(expiresAt)],
  });
}

/** Removes endpoints whose time has come, as their users would. Replicas share the work. Resolves to their number. */
export async function removeExpired(database: Database, secrets: SecretBox): Promise<number> {
  for (let removed = 0; ; ) {
    const { rows } = await database.query<{ company_id: string; id: string }>({
      name: 'select_expired_webhooks',
      text: `select company_id, id from webhook_endpoints where expires_at <= now() and deleted_at is null and ${notFreezing('webhook_endpoints.company_id')}
        order by expires_at limit ${REMOVED_AT_ONCE}`,
    });
    for (const { company_id: companyId, id } of rows) {
      await database.of(companyId).transaction(
        async (tx) => {
          if (!(await lockExpired(tx, companyId, id))) return;
          const before = await selectEndpoint(tx, companyId, id);
          await markDeleted(tx, companyId, id);
          await auditRemoval(tx, secrets, companyId, before);
          removed += 1;
        },
        { retryContention: true },
      );
    }
    if (rows.length < REMOVED_AT_ONCE) return removed;
  }
}

/** False if another replica has removed it, or a user has moved its time. */
async function lockExpired(tx: Transaction, companyId: string, id: string): Promise<boolean> {
  const { rowCount } = await tx.query({
    name: 'lock_expired_webhook',
    text: 'select from webhook_endpoints where company_id = $1 and id = $2 and expires_at <= now() and deleted_at is null for update',
    values: [companyId, id],
  });
  return rowCount > 0;
}

/** Looks every 15 s, and logs how many were removed, or why none could be. */
export function endpointExpiry(database: Database, secrets: SecretBox, log: Logger): BackgroundPart {
  const remove = async (): Promise<void> => {
    const removed = await removeExpired(database, secrets);
    if (removed > 0) log.info({ removed }, 'removed webhook endpoints whose time had come');
  };
  const failed = (error: unknown): void => log.warn({ error }, 'webhook endpoints whose time has come were not removed; trying again in 15 s');
  return new PeriodicTask(EVERY_MS, remove, failed).asPart('webhook expiry');
}
