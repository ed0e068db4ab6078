import { ApiError } from '@truckroll/contract';
import { CallCancelled } from './call-context.ts';
import { StatementError } from './database-errors.ts';

/** Constraint violations and contention: caused by the caller's request, or resolved by a retry. */
const EXPECTED = /^(23|40)[0-9A-Z]{3}$/;

/** Whether an error is a fault of this system or a server. Not found, conflicts, refusals and disconnected callers are expected outcomes. */
export function isFault(error: unknown): boolean {
  if (error instanceof ApiError) return error.status >= 500;
  // The SQLSTATE is in StatementError.sqlState, or in `code` of pg's own errors.
  const state = error instanceof StatementError ? error.sqlState : (error as { code?: unknown } | null)?.code;
  if (typeof state === 'string' && EXPECTED.test(state)) return false;
  return !(error instanceof CallCancelled) && (error as Partial<Error> | null)?.name !== 'AbortError';
}
