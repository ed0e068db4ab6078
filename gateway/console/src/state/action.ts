import { useState } from 'preact/hooks';
import { Problem } from '../api/problem.ts';

export interface Action {
  readonly busy: boolean;
  readonly problem: Problem | undefined;
  /** Does it unless it is being done; what it throws becomes the problem. */
  run(work: () => Promise<void>): Promise<void>;
  clear(): void;
}

/** Something that the user has asked for, which takes a moment and may fail. */
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
