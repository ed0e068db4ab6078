// Rules that fail on a record: the line's error names the request id, the log has the cause, and the other lines are stored (decisions §12).
import { ApiError } from '@truckroll/contract';
import type { JsonProblem } from '@truckroll/contract';
import { DatabaseClientError, StatementError } from '@truckroll/postgres';
import type { Logger } from '@truckroll/telemetry';

/** Where the cause of a defect is logged, and the request id to find it by. */
export interface DefectLog {
  log: Logger;
  requestId: string;
}

/** SQLSTATE classes caused by a statement's input: 21 for a row given twice, P0 for exceptions raised by functions. */
const OF_RULES = ['21', 'P0'];

/** Whether a rule failed on its input. Outages, rejections and unknown statements are no defects: the same line may succeed later. */
export function isDefect(error: unknown): boolean {
  if (error instanceof StatementError) return OF_RULES.some((state) => error.sqlState.startsWith(state));
  return !(error instanceof ApiError || error instanceof DatabaseClientError);
}

/** Failed lines after which, if none was stored, the whole batch fails: the cause is not in the lines. */
const MOST = 20;

export interface Defects {
  /** Notes that a line was stored. */
  passed(): void;
  /** The problem to report for a line on which a rule failed. Errors: rethrows the error if more than MOST lines have failed and none has passed. */
  problemOf(line: number, error: unknown): JsonProblem;
}

export function defectsIn(where: object, { log, requestId }: DefectLog): Defects {
  let hasPassed = false;
  let count = 0;
  return {
    passed: () => void (hasPassed = true),
    problemOf(line, error) {
      count += 1;
      if (count > MOST && !hasPassed) throw error;
      log.error({ error, ...where, line }, 'a line could not be stored');
      const message = `It could not be stored because of a fault in the service. Report it with the request id ${requestId}: the log has the cause.`;
      return { field: '(line)', code: 'INTERNAL_ERROR', message };
    },
  };
}
