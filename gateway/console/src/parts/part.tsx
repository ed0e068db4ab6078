import type { ComponentChildren } from 'preact';
import { useEffect, useId, useState } from 'preact/hooks';
import type { Resource } from '../state/resource.ts';
import { Skeleton } from './skeleton.tsx';

interface Given<T> {
  title: string;
  resource: Resource<T>;
  /** Lines of the skeleton. */
  lines?: number;
  beside?: (value: T) => ComponentChildren;
  children: (value: T) => ComponentChildren;
}

/** A part of a page that is loaded by itself. If that fails, it says so and loads again, and the rest of the page stays. */
export function Part<T>({ title, resource, lines, beside, children }: Given<T>) {
  const id = useId();
  const { value } = resource;
  return (
    <section class="part" aria-labelledby={id}>
      <h2 id={id}>
        {title} {value !== undefined && <span class="soft">{beside?.(value)}</span>}
      </h2>
      <Loaded resource={resource} lines={lines}>
        {children}
      </Loaded>
    </section>
  );
}

/** What a resource has, a skeleton until then, and why it could not be loaded. */
export function Loaded<T>({ resource, lines, children }: { resource: Resource<T>; lines?: number | undefined; children: (value: T) => ComponentChildren }) {
  const { value, problem } = resource;
  return (
    <>
      {problem !== undefined && <Failure resource={resource} />}
      {value !== undefined ? children(value) : problem === undefined && <Skeleton {...(lines !== undefined && { lines })} />}
    </>
  );
}

/** Why something could not be loaded, and the seconds until it is tried again. */
export function Failure({ resource: { value, problem, loading, retryAt, refresh }, what = 'This' }: { resource: Resource<unknown>; what?: string }) {
  return (
    <div class="failed">
      <p role="status">
        {what} could not be {value === undefined ? 'loaded' : 'updated'}. {problem?.message}
      </p>
      <p>
        <span class="soft">{loading ? 'Trying again…' : retryAt && <Countdown to={retryAt} />}</span>{' '}
        <button type="button" class="small" disabled={loading} onClick={refresh}>
          Try now
        </button>
      </p>
    </div>
  );
}

/** "Trying again in 12 s" */
function Countdown({ to }: { to: Date }) {
  const left = (): number => Math.max(0, Math.ceil((to.getTime() - Date.now()) / 1000));
  const [seconds, setSeconds] = useState(left);
  useEffect(() => {
    setSeconds(left());
    const timer = setInterval(() => setSeconds(left()), 1000);
    return () => clearInterval(timer);
  }, [to.getTime()]);
  return <>Trying again in {seconds} s</>;
}
