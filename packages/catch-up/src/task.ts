import type { Transaction } from '@truckroll/postgres';

/** A record's key: a run continues after it. */
export interface Cursor {
  readonly companyId: string;
  readonly id: string;
}

export interface TaskBatch {
  /** Records processed. */
  readonly count: number;
  /** The last of them in key order; undefined if none is left. */
  readonly reached: Cursor | undefined;
}

/** Work that a service does in the background, in batches, by whichever replica is free. */
export interface Task {
  /** `publish`, as in `truckroll catch-up publish`. */
  readonly name: string;
  /** Kinds of stored records, each processed by one run: once, and again when an operator asks. */
  readonly subjects?: readonly string[];
  /** Processes the records after the cursor, in key order. A replica of an earlier or later release may do the batches before and after. */
  next?(tx: Transaction, subject: string, after: Cursor): Promise<TaskBatch>;
  /**
   * Does a batch of what the database itself names as due, such as records that an earlier release has written. Returns false if nothing
   * is due, or other replicas are doing it.
   */
  due?(signal: AbortSignal): Promise<boolean>;
  /** Called after each round of batches, to notify others or to wait for them. */
  worked?(signal: AbortSignal): Promise<void>;
  /** Approximate number of a subject's records, for progress. */
  total?(subject: string): Promise<number>;
  /** What is being prepared, for the 503 of a gate: `The feed of invoices`. */
  preparing?(subjects: readonly string[]): string;
}
