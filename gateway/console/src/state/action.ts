import { useState } from 'preact/hooks';
import { Problem } from '../api/problem.ts';

export interface Action {
  readonly busy: boolean;
  readonly problem: Problem | undefined;
  /** Runs the work unless it is already running; an error becomes `problem`. */
  run(work: () => Promise<void>): Promise<void>;
  clear(): void;
}

/** A user's action, which takes time and may fail. */
export function useAction(): Action {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem | undefined>(undefined);
  async function run(work: () => Promise<void>): Promise<void> {
    if (busy) return;
    setBusy(true);
    setProblem(undefined);
    try {
      await work();
    } catch (error) {
      setProblem(Problem.of(error));
    } finally {
      setBusy(false);
    }
  }
  return { busy, problem, run, clear: () => setProblem(undefined) };
}
