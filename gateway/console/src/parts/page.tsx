import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { notice } from '../state/notice.ts';
import type { Resource } from '../state/resource.ts';
import { session } from '../state/session.ts';
import { useStore } from '../state/store.ts';
import { ProblemBox } from './problem-box.tsx';
import { clock } from './time.tsx';

interface Given {
  title: string;
  /** Of what the title is one. */
  above?: { title: string; href: string };
  beside?: ComponentChildren;
  actions?: ComponentChildren;
  children: ComponentChildren;
}

/** A screen: its heading takes the focus when the user comes to it, so that the keyboard and screen readers start there. */
export function Page({ title, above, beside, actions, children }: Given) {
  const heading = useRef<HTMLHeadingElement>(null);
  const { number } = useStore(session);
  useEffect(() => heading.current?.focus(), [number]);
  useEffect(() => {
    document.title = `${title} · Truckroll console`;
  }, [title]);
  return (
    <>
      <div class="head">
        <div class="title">
          {above && <p class="above"><a href={above.href}>{above.title}</a></p>}
          <h1 tabIndex={-1} ref={heading}>{title}</h1>
          {beside}
        </div>
        {actions && <div class="buttons">{actions}</div>}
      </div>
      <Notice />
      {children}
    </>
  );
}

/** There from the beginning and empty, as live regions must be to be heard. */
function Notice() {
  const text = useStore(notice);
  return (
    <div class="notice" role="status" data-shown={text !== undefined}>
      {text !== undefined && (
        <>
          <div>{text}</div>
          <button type="button" class="small" aria-label="Dismiss the message" onClick={() => notice.set(undefined)}>Dismiss</button>
        </>
      )}
    </div>
  );
}

/** Says how old what is shown is, and loads it again. */
export function Freshness({ of: resources }: { of: readonly Resource<unknown>[] }) {
  const times = resources.flatMap(({ loadedAt }) => (loadedAt === undefined ? [] : [loadedAt.getTime()]));
  const failed = resources.find(({ problem }) => problem !== undefined)?.problem;
  const oldest = times.length === 0 ? undefined : new Date(Math.min(...times));
  return (
    <div class="freshness">
      {failed !== undefined && oldest !== undefined && <ProblemBox problem={failed} title={`This is what was known at ${clock(oldest)}.`} />}
      {failed !== undefined && oldest === undefined && <ProblemBox problem={failed} />}
      <p>
        <span class="soft">{oldest === undefined ? (failed === undefined ? 'Loading…' : '') : `Updated ${clock(oldest)}`}</span>
        <button type="button" class="small" onClick={() => resources.forEach((each) => each.refresh())}>Refresh</button>
      </p>
    </div>
  );
}
