import { ApiError } from '@truckroll/contract';

/** Constraint violations and contention: caused by the caller's request, or resolved by a retry. */
const EXPECTED = /^(23|40)[0-9A-Z]{3}$/;

const CANCELLED: readonly unknown[] = ['AbortError', 'CallCancelled'];

/** Whether an error is a fault of this system or a server. Not found, conflicts, refusals and disconnected callers are expected outcomes. */
export function isFault(error: unknown): boolean {
  if (error instanceof ApiError) return error.status >= 500;
  // The SQLSTATE is in StatementError.sqlState, or in `code` if pg raised the error.
  const { name, sqlState, code } = (error ?? {}) as Partial<Record<'name' | 'sqlState' | 'code', unknown>>;
  const state = sqlState ?? code;
  if (typeof state === 'string' && EXPECTED.test(state)) return false;
  return !CANCELLED.includes(name);
}
