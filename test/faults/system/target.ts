/** What a fault hits: a server or one of our processes. */
export interface Target {
  readonly name: string;
  /** Ends it and all that it has started by SIGKILL; resolves when they have ended. */
  kill(): Promise<void>;
  /** Starts it again at the same address; resolves when it can be used. */
  start(): Promise<void>;
  /** Stops it in its tracks, with all that it has started. */
  pause(): void;
  resume(): void;
}
