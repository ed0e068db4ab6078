import type { Transaction } from '@truckroll/postgres';

/** Advisory lock keys of a company: for all services on the database, and for the service of the current schema. */
const EVERYWHERE = `hashtextextended('records of ' || $1, 0)`;
const HERE = `hashtextextended('records of ' || $1 || ' in ' || current_schema(), 0)`;

/**
 * Locks the company within this service until the transaction ends: no other transaction stores its records or their sources. A value
 * derived from several records then sees all of them, or is refreshed by the later transaction. Services that share a database do not wait
 * for each other. Replicas of the previous release lock the company for all services: the shared lock excludes them.
 */
export async function lockCompany(tx: Transaction, companyId: string): Promise<void> {
  await tx.query({
    name: 'lock_company',
    text: `select pg_advisory_xact_lock_shared(${EVERYWHERE}), pg_advisory_xact_lock(${HERE})`,
    values: [companyId],
  });
}

/** Locks a part of the company that shares no rows with its other parts. Parts do not wait for each other; lockCompany waits for all. */
export async function lockPart(tx: Transaction, companyId: string, part: string): Promise<void> {
  await tx.query({
    name: 'lock_part_of_company',
    text: `select pg_advisory_xact_lock_shared(${EVERYWHERE}), pg_advisory_xact_lock_shared(${HERE}),
      pg_advisory_xact_lock(hashtextextended($2 || ' of ' || $1 || ' in ' || current_schema(), 0))`,
    values: [companyId, part],
  });
}
