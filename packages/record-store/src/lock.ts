import type { Transaction } from '@truckroll/service-kit';

/** The locks of a company, for all services and for the one whose schema it is. */
const EVERYWHERE = `hashtextextended('records of ' || $1, 0)`;
const HERE = `hashtextextended('records of ' || $1 || ' in ' || current_schema(), 0)`;

/**
 * Until the transaction ends, the only one of this service that stores records of the company or what they follow from:
 * values that are derived from several records see all of them or are refreshed by the one that comes later. Services
 * that share a database do not wait for each other. Replicas of a release before lock the company alone, for all
 * services: the shared lock keeps them apart from this one.
 */
export async function lockCompany(tx: Transaction, companyId: string): Promise<void> {
  await tx.query({
    name: 'lock_company',
    text: `select pg_advisory_xact_lock_shared(${EVERYWHERE}), pg_advisory_xact_lock(${HERE})`,
    values: [companyId],
  });
}

/**
 * The same for a part of what follows from the company's records, which nothing of another part reads or writes: parts do not wait for
 * each other, and whoever locks the company waits for all of them.
 */
export async function lockPart(tx: Transaction, companyId: string, part: string): Promise<void> {
  await tx.query({
    name: 'lock_part_of_company',
    text: `select pg_advisory_xact_lock_shared(${EVERYWHERE}), pg_advisory_xact_lock_shared(${HERE}),
      pg_advisory_xact_lock(hashtextextended($2 || ' of ' || $1 || ' in ' || current_schema(), 0))`,
    values: [companyId, part],
  });
}
