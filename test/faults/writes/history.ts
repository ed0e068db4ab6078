// Writes and their answers as clients saw them. The checker compares them with what is stored.

/** A requested write. Several may share one key. */
export type Write = {
  readonly visitId: string;
  readonly expectedRevision: string;
  readonly notify: boolean;
} & ({ readonly kind: 'add'; readonly technicianId: string } | { readonly kind: 'remove'; readonly assignmentId: string });

export interface Answer {
  readonly status: number;
  readonly replayed: boolean;
  readonly location?: string | undefined;
  readonly revision?: string | undefined;
  /** `data` and `notification` as JSON, which a repeated answer must equal. */
  readonly said?: string | undefined;
  readonly code?: string | undefined;
  readonly reason?: string | undefined;
  readonly currentRevision?: string | undefined;
}

/** One sent request. Times are milliseconds of one clock. */
export interface Attempt {
  readonly key: string;
  readonly write: Write;
  readonly invokedAt: number;
  readonly endedAt: number;
  /** Undefined when no answer came: the write may have been made, or may still be. */
  readonly answer?: Answer | undefined;
  readonly lost?: string | undefined;
}

export const isAcknowledged = ({ answer }: Attempt): boolean => answer !== undefined && answer.status >= 200 && answer.status < 300;

/** Statuses that leave open whether the write was made: a 503 can also mean that the commit's result is unknown. */
const PASSING = new Set([429, 503]);

/** Whether repeating the request would get the same answer. */
export function isDefinite({ answer }: Attempt): boolean {
  return answer !== undefined && !PASSING.has(answer.status) && answer.code !== 'IDEMPOTENCY_IN_PROGRESS';
}

export function assignmentOf(location: string | null | undefined): string | undefined {
  return location?.split('/').at(-1);
}
