import type { Say } from '@truckroll/local-stack';

export interface PartOptions {
  readonly writes: number;
  readonly rounds: number;
  readonly clients: number;
  readonly events: number;
  readonly pooled: boolean;
  /** Whether each service has a separate PostgreSQL. */
  readonly separate: boolean;
  readonly seed: number;
  readonly say: Say;
}

export interface Part {
  readonly figures: Readonly<Record<string, number>>;
  readonly passed: boolean;
}
