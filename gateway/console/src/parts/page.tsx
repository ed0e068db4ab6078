import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { notice } from '../state/notice.ts';
import type { Resource } from '../state/resource.ts';
import { session } from '../state/session.ts';
import { useStore } from '../state/store.ts';
import { Breakable } from './breakable.tsx';
import { ProblemBox } from './problem-box.tsx';
import { timeOfDay } from './time.tsx';

interface Given {
  title: string;
  /** What prints name beside the title: the days of the figures. */
  days?: string;
  /** The page one level up. */
  above?: { title: string; href: string };
  beside?: ComponentChildren;
  actions?: ComponentChildren;
  live?: readonly Resource<unknown>[];
  children: ComponentChildren;
}

/** A screen. Its heading takes the focus on arrival, so that the keyboard and screen readers start there. */
export function Page({ title, days, above, beside, actions, live = [], children }: Given) {
  const heading = useRef<HTMLHeadingElement>(null);
  const { number, me } = useStore(session);
  const company = me?.company.name;
  useLayoutEffect(() => heading.current?.focus(), [number]);
  useLayoutEffect(() => {
    // Browsers print it at the top of each page.
    document.title = [title, days, company, 'Truckroll console'].filter((part) => part !== undefined).join(' · ');
  }, [title, days, company]);
  const freshness = live.length > 0 && <Freshness of={live} />;
  return (
    <>
      {above && (
        <div class="line">
          <nav class="above" aria-label="Above">
            <a href={above.href}>{above.title}</a>
          </nav>
          {freshness}
        </div>
      )}
      <div class="head">
        <div class="title">
          <h1 tabIndex={-1} ref={heading}>
            <Breakable text={title} />
          </h1>
          {beside}
        </div>
        <div class="buttons">
          {!above && freshness}
          {actions}
        </div>
      </div>
      <Notice />
      <Outdated of={live} />
      {children}
    </>
  );
}

/** Moves the focus to the heading, for actions that remove the element that had it. */
export function focusHeading(): void {
  requestAnimationFrame(() => document.querySelector('h1')?.focus());
}

/** Always rendered, empty at first: screen readers announce only live regions that already exist. */
function Notice() {
  const text = useStore(notice);
  return (
    <div class="notice" role="status" data-shown={text !== undefined}>
      {text !== undefined && (
        <>
          <div>{text}</div>
          <button type="button" class="small" aria-label="Dismiss the message" onClick={() => notice.set(undefined)}>
            Dismiss
          </button>
        </>
      )}
    </div>
  );
}

/** When the oldest of them was loaded; undefined if none was. */
function oldest(resources: readonly Resource<unknown>[]): Date | undefined {
  const times = resources.flatMap(({ loadedAt }) => (loadedAt === undefined ? [] : [loadedAt.getTime()]));
  return times.length === 0 ? undefined : new Date(Math.min(...times));
}

function Freshness({ of: resources }: { of: readonly Resource<unknown>[] }) {
  const at = oldest(resources);
  return (
    <p class="freshness">
      {at === undefined ? resources.some(({ loading }) => loading) && 'Loading…' : `Updated ${timeOfDay(at.toISOString())}`}
      <button type="button" class="small" onClick={() => resources.forEach((each) => each.refresh())}>
        Refresh
      </button>
    </p>
  );
}

function Outdated({ of: resources }: { of: readonly Resource<unknown>[] }) {
  const problem = resources.find((each) => each.problem !== undefined)?.problem;
  const at = oldest(resources);
  return <ProblemBox problem={problem} {...(at === undefined ? {} : { title: `This is what was known at ${timeOfDay(at.toISOString())}.` })} />;
}
