export interface Target {
  readonly name: string;
  /** Ends the process and its descendants with SIGKILL; resolves when they have ended. */
  kill(): Promise<void>;
  start(): Promise<void>;
  pause(): void;
  resume(): void;
}
