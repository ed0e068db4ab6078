import { ApiError, isUuid, refused } from '@truckroll/contract';
import type { GetPersonRequest } from '@truckroll/contract/gen/records/v1/erasures';
import { ERASABLE, type ErasedPerson } from '@truckroll/outbox';

export function requireId(id: string, field = 'company_id'): void {
  if (!isUuid(id)) throw ApiError.invalid([{ location: 'body', field, code: 'INVALID_UUID', message: 'Give a UUID.' }]);
}

/** Errors: 400 for another kind, or what is no id. */
export function personOf({ company_id: companyId, kind, id }: GetPersonRequest): ErasedPerson {
  requireId(companyId);
  requireId(id, 'id');
  if (!(ERASABLE as readonly string[]).includes(kind)) throw refused('kind', `Give ${ERASABLE.join(', ')}: others are no people.`);
  return { companyId: companyId.toLowerCase(), kind, id: id.toLowerCase() };
}
