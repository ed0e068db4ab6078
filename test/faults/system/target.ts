export interface Target {
  readonly name: string;
  /** Ends the process and its descendants with SIGKILL; resolves when they have ended. */
  kill(): Promise<void>;
  /** Restarts it at the same address; resolves when it can be used. */
  start(): Promise<void>;
  pause(): void;
  resume(): void;
}
