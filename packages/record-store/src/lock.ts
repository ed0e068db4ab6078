import type { Transaction } from '@truckroll/postgres';

/** Advisory lock key of a company in the service of the current schema: services that share a database do not wait for each other. */
const COMPANY = `hashtextextended('records of ' || $1 || ' in ' || current_schema(), 0)`;

/**
 * Locks the company within this service until the transaction ends: no other transaction stores its records or their sources. A value
 * derived from several records then sees all of them, or is refreshed by the later transaction.
 */
export async function lockCompany(tx: Transaction, companyId: string): Promise<void> {
  await tx.query({ name: 'lock_company', text: `select pg_advisory_xact_lock(${COMPANY})`, values: [companyId] });
}

/** Locks a part of the company that shares no rows with its other parts. Parts do not wait for each other; lockCompany waits for all. */
export async function lockPart(tx: Transaction, companyId: string, part: string): Promise<void> {
  await tx.query({
    name: 'lock_part_of_company',
    text: `select pg_advisory_xact_lock_shared(${COMPANY}),
      pg_advisory_xact_lock(hashtextextended($2 || ' of ' || $1 || ' in ' || current_schema(), 0))`,
    values: [companyId, part],
  });
}
