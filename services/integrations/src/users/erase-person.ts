// Erases a person (docs/adr/0024): integrations decides it, records it, and publishes the entry of the audit trail to a topic that keeps it,
// from which the other services learn it.
import { ApiError, now } from '@truckroll/contract';
import type { ErasePersonRequest, ErasePersonResponse } from '@truckroll/contract/gen/integrations/v1/admin';
import { personOf } from '@truckroll/erasure';
import { PERSON_ERASED, auditEntry, erasedPeopleAmong, markPersonErased, refuseErased, type ErasedPerson } from '@truckroll/outbox';
import type { Transaction } from '@truckroll/postgres';
import { insertAuditEntries } from '../audit/store.ts';
import { erasureOf } from '../companies/erasures.ts';
import { refuseFreezing } from '../companies/freeze.ts';
import { lockCompany, requireCompany } from '../companies/store.ts';
import type { Context } from '../context.ts';
import { lockUser } from './store.ts';

/** Errors: 404 for an unknown company or user, 409 for an active user. */
export async function erasePerson({ database, outbox }: Context, request: ErasePersonRequest): Promise<ErasePersonResponse> {
  const person = personOf(request);
  const { companyId, kind, id } = person;
  return await database.of(companyId).transaction(async (tx) => {
    // Freezing takes it too.
    await lockCompany(tx, companyId);
    await refuseErased(tx, companyId);
    await requireCompany(tx, companyId);
    await refuseFreezing(tx, companyId);
    if (kind === 'users') await requireInactive(tx, person);
    const last = await askedAt(tx, person);
    // Later than the last request, also where this clock is behind.
    const entry = { ...auditEntry({ companyId, action: PERSON_ERASED, object: { kind, id } }), at: Math.max(now(), last + 1) };
    if (await markPersonErased(tx, { ...person, askedAt: entry.at })) {
      await insertAuditEntries(tx, [entry]);
      await outbox.append(tx, [erasureOf(entry)]);
      return { asked_at: entry.at };
    }
    // A concurrent call was recorded at the same moment or, by another clock, later.
    return { asked_at: await askedAt(tx, person) };
  });
}

/** Time of the last request to erase the person; 0 if there is none. */
async function askedAt(tx: Transaction, { companyId, kind, id }: ErasedPerson): Promise<number> {
  return (await erasedPeopleAmong(tx, [companyId], [id])).find((each) => each.kind === kind)?.askedAt ?? 0;
}

async function requireInactive(tx: Transaction, { companyId, id }: ErasedPerson): Promise<void> {
  const user = await lockUser(tx, id);
  if (user?.company_id !== companyId) throw new ApiError('NOT_FOUND', 'The company has no user with this id: see the ids with `truckroll user list`.');
  if (!user.active) return;
  const message = 'The user is active: first end their access with `truckroll user deactivate`. Keys that they made are refused from then on.';
  throw new ApiError('INVALID_REQUEST', message, { status: 409 });
}
