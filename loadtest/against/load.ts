import type { Groups } from '../measure/cpu.ts';
import type { Stack } from '../system/stack.ts';

export interface Outcome {
  readonly operations: number;
  /** Undefined if only CPU time is compared. */
  readonly perSecond?: number;
  /** Median latency in ms. */
  readonly p50?: number;
  /** In ms. */
  readonly p99?: number;
}

/** A started system and what it is loaded with. */
export interface Loaded {
  /** Processes whose CPU time counts. */
  readonly groups: Groups;
  /** Loads the system until V8 has compiled the hot code; not measured. */
  warmUp(): Promise<void>;
  /** Prepares a round, which is not measured, and resolves to the load. */
  prepare(round: number): Promise<() => Promise<Outcome>>;
}

export interface Size {
  readonly quick: boolean;
  /** Duration of a round that has no other end. */
  readonly seconds: number;
  /** Operations a second of a kind that is not loaded at full speed. */
  readonly rate: number;
}

/** Starts the stack's checkout with data. Only what every commit has may be used: HTTP, gRPC, Kafka, and tables that never changed. */
export type StartLoad = (stack: Stack, size: Size) => Promise<Loaded>;
