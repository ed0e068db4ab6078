// Rules that fail on a record: the line says so and the log says why, and the other lines are stored (decisions §12).
import { ApiError } from '@truckroll/contract';
import type { JsonProblem } from '@truckroll/contract';
import { DatabaseClientError, StatementError, type Logger } from '@truckroll/service-kit';

/** Where the cause of a defect is told, and what it is found by there: a call's own. */
export interface Told {
  log: Logger;
  requestId: string;
}

/** SQLSTATE classes that statements of ours run into by what they are given: a row that stands twice, what a function raises. */
const OF_RULES = ['21', 'P0'];

/**
 * Whether a rule has failed on what it was given. Never an outage, a refusal, or a statement that this database does
 * not know: those say nothing of a record, and the same line may be stored a moment later.
 */
export function isDefect(error: unknown): boolean {
  if (error instanceof StatementError) return OF_RULES.some((state) => error.sqlState.startsWith(state));
  return !(error instanceof ApiError || error instanceof DatabaseClientError);
}

/** Where so many lines of a batch have failed, and none has passed, it is not the lines. */
const MOST = 20;

/** The defects of one batch. */
export class Defects {
  readonly #told: Told;
  readonly #where: object;
  #passed = false;
  #count = 0;

  constructor(told: Told, where: object) {
    this.#told = told;
    this.#where = where;
  }

  /** The rules have come through for some line. */
  passed(): void {
    this.#passed = true;
  }

  /** What is said of a line on which a rule failed. Errors: the error itself where all lines fail. */
  problemOf(line: number, error: unknown): JsonProblem {
    this.#count += 1;
    if (this.#count > MOST && !this.#passed) throw error;
    const { log, requestId } = this.#told;
    log.error({ error, ...this.#where, line }, 'a line could not be stored');
    const message = `It could not be stored: that is a fault of the service. Report it with the request id ${requestId}, by which its log has the cause.`;
    return { field: '(line)', code: 'INTERNAL_ERROR', message };
  }
}
