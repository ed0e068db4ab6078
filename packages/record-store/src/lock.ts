import type { Transaction } from '@truckroll/service-kit';

/**
 * Until the transaction ends, the only one of this service that stores records of the company or what they follow from:
 * values that are derived from several records see all of them or are refreshed by the one that comes later. Services
 * that share a database do not wait for each other. Replicas of a release before lock the company alone, for all
 * services: the shared lock keeps them apart from this one.
 */
export async function lockCompany(tx: Transaction, companyId: string): Promise<void> {
  await tx.query({
    name: 'lock_company',
    text: `select pg_advisory_xact_lock_shared(hashtextextended('records of ' || $1, 0)),
      pg_advisory_xact_lock(hashtextextended('records of ' || $1 || ' in ' || current_schema(), 0))`,
    values: [companyId],
  });
}
