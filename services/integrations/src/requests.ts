import { ApiError, requestCheck } from '@truckroll/contract';
import type { Caller, Key } from '@truckroll/contract/gen/type/v1/type';

export const checked = requestCheck('truckroll.integrations.v1');

/** The caller, which the gateway has set from the credential. */
export function callerOf({ caller }: { caller?: Caller | null | undefined }): Caller {
  if (caller == null) throw ApiError.internal(new Error('a command has no caller'));
  return caller;
}

/** The company whose records are read, which the gateway has set from the credential. */
export function companyOf({ key }: { key?: Key | null | undefined }): string {
  if (key == null) throw ApiError.internal(new Error('a read has no company'));
  return key.company_id;
}
