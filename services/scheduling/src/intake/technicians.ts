import type { Transaction } from '@truckroll/service-kit';

/**
 * Follows up on the service request that a visit was booked for, in the transaction that added or removed a technician
 * (decisions §6): the first one makes it SCHEDULED, none left makes it BOOKED again. `technicians` are those on the
 * visit now; canceled assignments do not count. Visits without a service request are left alone, and until service
 * requests are recorded here there are no others.
 */
export async function afterTechniciansChanged(_tx: Transaction, _companyId: string, _visitId: string, _technicians: number): Promise<void> {
  return Promise.resolve();
}
