import { ApiError } from '@truckroll/contract';
import { CallCancelled } from './call-context.ts';
import { StatementError } from './database-errors.ts';

/** Constraints and contention: what a caller asked for, or another attempt settles. */
const EXPECTED = /^(23|40)[0-9A-Z]{3}$/;

/**
 * Whether an error is ours or a server's, rather than an answer: what was not found, conflicts or is refused is none, nor is a
 * caller that went away.
 */
export function isFault(error: unknown): boolean {
  if (error instanceof ApiError) return error.status >= 500;
  // Ours, or pg's own, which carries it as its code.
  const state = error instanceof StatementError ? error.sqlState : (error as { code?: unknown } | null)?.code;
  if (typeof state === 'string' && EXPECTED.test(state)) return false;
  return !(error instanceof CallCancelled) && (error as Partial<Error> | null)?.name !== 'AbortError';
}
