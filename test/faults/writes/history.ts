// What clients did and were told: the half of the truth that the checker holds against what is stored.

/** A write as it is asked for. With one key there may be several. */
export type Write = {
  readonly visitId: string;
  readonly expectedRevision: string;
  /** Whether the customer is to be told. */
  readonly notify: boolean;
} & ({ readonly kind: 'add'; readonly technicianId: string } | { readonly kind: 'remove'; readonly assignmentId: string });

export interface Answer {
  readonly status: number;
  readonly replayed: boolean;
  /** Of the assignment that was added. */
  readonly location?: string | undefined;
  /** Of the visit in the answer. */
  readonly revision?: string | undefined;
  /** `data` and `notification` as JSON: what a repetition must repeat. */
  readonly said?: string | undefined;
  readonly code?: string | undefined;
  readonly reason?: string | undefined;
  readonly currentRevision?: string | undefined;
}

/** A request that was sent once. Times are milliseconds of one clock. */
export interface Attempt {
  readonly key: string;
  readonly write: Write;
  readonly invokedAt: number;
  readonly endedAt: number;
  /** Undefined where none came: the write may have been made, or may still be. */
  readonly answer?: Answer | undefined;
  /** Why none came. */
  readonly lost?: string | undefined;
}

export const isAcknowledged = ({ answer }: Attempt): boolean => answer !== undefined && answer.status >= 200 && answer.status < 300;

/** Not now, says the answer, and leaves open whether it was done: 503 also tells of a commit whose answer was lost. */
const PASSING = new Set([429, 503]);

/** Whether asking again would be told the same. */
export function isDefinite({ answer }: Attempt): boolean {
  return answer !== undefined && !PASSING.has(answer.status) && answer.code !== 'IDEMPOTENCY_IN_PROGRESS';
}

/** `/v1/job-assignments/<id>`. */
export function assignmentOf(location: string | null | undefined): string | undefined {
  return location?.split('/').at(-1);
}
