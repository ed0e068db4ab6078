// Something of the API that is on screen: loaded, loaded again while it is looked at, never silently old.
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { Problem } from '../api/problem.ts';
import { session } from './session.ts';
import { useStore } from './store.ts';

/** While something on screen is about to change; grows while it does not. */
const SOON_MS = 1500;
const SOON_AT_MOST_MS = 15_000;
const GROWTH = 1.4;
/** While nothing is, or the API cannot be reached. */
const SELDOM_MS = 30_000;

export interface Resource<T> {
  readonly value: T | undefined;
  /** Why the last load failed; the value is that of the last one that did not. */
  readonly problem: Problem | undefined;
  readonly loadedAt: Date | undefined;
  readonly loading: boolean;
  /** Loads at once, and soon again while something is expected to change. */
  refresh(): void;
}

interface State<T> {
  readonly key: string;
  readonly value?: T;
  readonly problem?: Problem | undefined;
  readonly loadedAt?: Date;
  readonly loading: boolean;
}

/** Loads what `key` names. `expecting` says of a value whether it is about to change, and `soonMs` how soon one looks again then. */
export function useResource<T>(
  key: string,
  load: (signal: AbortSignal) => Promise<T>,
  expecting: (value: T) => boolean = () => false,
  soonMs = SOON_MS,
): Resource<T> {
  const { signedIn, number } = useStore(session);
  const [state, setState] = useState<State<T>>({ key, loading: true });
  const [asked, setAsked] = useState(0);
  const latest = useRef({ load, expecting });
  latest.current = { load, expecting };

  useEffect(() => {
    if (!signedIn) return;
    const ended = new AbortController();
    let timer: number | undefined;
    let pause = soonMs;
    let before: string | undefined;
    let busy = false;

    const again = async (): Promise<void> => {
      clearTimeout(timer);
      // A page that nobody looks at asks for nothing; coming back to it does.
      if (busy || document.hidden) return;
      busy = true;
      setState((known) => (known.key === key ? { ...known, loading: true } : { key, loading: true }));
      let next = SELDOM_MS;
      try {
        const value = await latest.current.load(ended.signal);
        if (ended.signal.aborted) return;
        const text = JSON.stringify(value);
        pause = text === before ? Math.min(pause * GROWTH, SOON_AT_MOST_MS) : soonMs;
        if (latest.current.expecting(value)) next = pause;
        before = text;
        setState({ key, value, loadedAt: new Date(), loading: false });
      } catch (error) {
        if (ended.signal.aborted) return;
        const problem = Problem.of(error);
        next = Math.max(SELDOM_MS, (problem.retryAfterSeconds ?? 0) * 1000);
        setState((known) => ({ ...known, problem, loading: false }));
      } finally {
        busy = false;
      }
      timer = setTimeout(() => void again(), next);
    };
    const seen = (): void => void again();
    document.addEventListener('visibilitychange', seen);
    void again();
    return () => {
      ended.abort();
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', seen);
    };
  }, [key, asked, signedIn, number]);

  const refresh = useCallback(() => setAsked((count) => count + 1), []);
  const shown = state.key === key ? state : { key, loading: true };
  return { value: shown.value, problem: shown.problem, loadedAt: shown.loadedAt, loading: shown.loading, refresh };
}
