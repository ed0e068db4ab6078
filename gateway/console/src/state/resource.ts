// Data of the API on screen: loaded, reloaded while it is visible, and marked if it is outdated.
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { Problem } from '../api/problem.ts';
import { session } from './session.ts';
import { useStore } from './store.ts';

/** Poll interval in ms while something on screen is about to change; it grows while nothing changes. */
const SOON_MS = 1500;
const SOON_AT_MOST_MS = 15_000;
const GROWTH = 1.4;
/** Poll interval in ms otherwise, or while the API is unavailable and does not say for how long. */
const SELDOM_MS = 30_000;
/** Poll interval in ms of reports and of long lists: one may take many requests, and the limit of reports is lower. */
export const RARELY_MS = 300_000;
/** Shortest and longest time in s after which a failed load is repeated, whatever the API says. */
const RETRY_AT_LEAST = 5;
const RETRY_AT_MOST = 3600;

export interface Resource<T> {
  readonly value: T | undefined;
  /** Why the last load failed; `value` is then from the last successful one. */
  readonly problem: Problem | undefined;
  readonly loadedAt: Date | undefined;
  readonly loading: boolean;
  /** When a load that failed is repeated. Undefined if the request itself is wrong. */
  readonly retryAt: Date | undefined;
  /** Loads at once, and polls quickly again if a change is expected. */
  refresh(): void;
}

interface State<T> {
  readonly key: string;
  readonly value?: T;
  readonly problem?: Problem | undefined;
  readonly loadedAt?: Date;
  readonly loading: boolean;
  readonly retryAt?: Date | undefined;
}

/** Loads what `key` names and keeps it up to date. `expecting` says whether a value is about to change; `soonMs` is the poll interval for that time, `seldomMs` otherwise. */
export function useResource<T>(
  key: string,
  load: (signal: AbortSignal) => Promise<T>,
  expecting: (value: T) => boolean = () => false,
  soonMs = SOON_MS,
  seldomMs = SELDOM_MS,
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
      // A hidden page requests nothing, and loads again when it becomes visible.
      if (busy || document.hidden) return;
      busy = true;
      setState((known) => (known.key === key ? { ...known, loading: true } : { key, loading: true }));
      let next = seldomMs;
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
        const seconds = problem.retryAfterSeconds ?? SELDOM_MS / 1000;
        next = Math.max(RETRY_AT_LEAST, Math.min(seconds, RETRY_AT_MOST)) * 1000;
        const retryAt = problem.status === 400 ? undefined : new Date(Date.now() + next);
        setState((known) => ({ ...known, problem, loading: false, retryAt }));
        if (retryAt === undefined) return;
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
  return { value: shown.value, problem: shown.problem, loadedAt: shown.loadedAt, loading: shown.loading, retryAt: shown.retryAt, refresh };
}
