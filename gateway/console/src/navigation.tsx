import { useEffect, useState } from 'preact/hooks';
import { places } from './state/route.ts';

interface Entry {
  readonly title: string;
  readonly href: string;
  /** First part of the addresses of its screens. */
  readonly first: string;
  /** Lines of a drawing on 20 by 20. */
  readonly icon: string;
}

/**
 * Screens of the business. A phone has them in the bar at the bottom, except the home page, to which the name at the top leads, and the schedule, which
 * is below More: Today is a list there.
 */
const BUSINESS: readonly Entry[] = [
  { title: 'Home', href: places.home, first: 'home', icon: 'M3 9.5 10 4l7 5.5V17h-5v-4.5H8V17H3z' },
  { title: 'Today', href: places.today(), first: 'today', icon: 'M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM10 6v4l2.5 2' },
  {
    title: 'Customers',
    href: places.customers(),
    first: 'customers',
    icon: 'M10 10a3.2 3.2 0 1 0 0-6.4 3.2 3.2 0 0 0 0 6.4zM3.5 17c.6-3.4 3.2-5 6.5-5s5.9 1.6 6.5 5',
  },
  { title: 'Schedule', href: places.schedule(), first: 'schedule', icon: 'M3.5 5h13v12h-13zM3.5 8.5h13M7 3v3M13 3v3' },
  { title: 'Money', href: places.money, first: 'money', icon: 'M2.5 5h15v10h-15zM10 12.2a2.2 2.2 0 1 0 0-4.4 2.2 2.2 0 0 0 0 4.4z' },
  { title: 'Reports', href: places.reports, first: 'reports', icon: 'M4 17V9m6 8V3m6 14v-5' },
];

/** Screens for developers and for administrators of the connection. */
const DEVELOPERS: readonly Entry[] = [
  { title: 'Endpoints', href: places.endpoints, first: 'endpoints', icon: 'm8 12 4-4M6.5 9.5l-2 2a2.8 2.8 0 0 0 4 4l2-2m3-3 2-2a2.8 2.8 0 0 0-4-4l-2 2' },
  { title: 'Keys', href: places.keys, first: 'keys', icon: 'M3.5 13.5a3 3 0 1 0 6 0 3 3 0 1 0-6 0m5.2-2.2L16 4m-3.2 3.2 2.7 2.7' },
  { title: 'Requests', href: places.requests(), first: 'requests', icon: 'M3 7h12m-3-3 3 3-3 3M17 13H5m3-3-3 3 3 3' },
  { title: 'Event types', href: places.eventTypes, first: 'event-types', icon: 'M11 2.5 4.5 11.5H10l-1 6 6.5-9H10z' },
  { title: 'Audit', href: places.audit(), first: 'audit', icon: 'M4 5h12M4 10h12M4 15h8' },
];

/** On these screens the sidebar is folded until the user unfolds it. */
const NARROW = matchMedia('(max-width: 1023px)');

/** The way to every screen: a sidebar, and on a phone a bar at the bottom. `failing` puts a dot beside the endpoints. */
export function Navigation({ path, failing }: { path: readonly string[]; failing: boolean }) {
  const [folded, setFolded] = useState(NARROW.matches);
  const [more, setMore] = useState(false);
  const [first = 'home'] = path;
  useEffect(() => setMore(false), [path]);
  useEffect(() => {
    const changed = (): void => setFolded(NARROW.matches);
    NARROW.addEventListener('change', changed);
    return () => NARROW.removeEventListener('change', changed);
  }, []);
  const list = (entries: readonly Entry[], screen?: string) =>
    entries.map(({ title, href, first: own, icon }) => (
      <li key={own} class={screen ?? (own === 'schedule' ? 'not-on-phone' : undefined)}>
        <a href={href} title={folded ? title : undefined} aria-current={own === first ? 'page' : undefined}>
          <Icon path={icon} />
          <span class="text">{title}</span>
          {failing && own === 'endpoints' && (
            <span class="dot">
              <span class="unseen">(some have problems)</span>
            </span>
          )}
        </a>
      </li>
    ));
  return (
    <nav
      class={folded ? 'side folded' : 'side'}
      aria-label="Console"
      onKeyDown={({ key }) => {
        if (key === 'Escape') setMore(false);
      }}
    >
      <ul>{list(BUSINESS)}</ul>
      <button type="button" class="more" aria-expanded={more} onClick={() => setMore(!more)}>
        <Icon path="M4 10h.01M10 10h.01M16 10h.01" />
        <span class="text">More</span>
        {failing && <span class="dot" />}
      </button>
      <ul class={more ? 'developers shown' : 'developers'}>
        {list(
          BUSINESS.filter(({ first: own }) => own === 'schedule'),
          'on-phone',
        )}
        {list(DEVELOPERS)}
      </ul>
      <button type="button" class="fold" aria-expanded={!folded} title={folded ? 'Expand the navigation' : undefined} onClick={() => setFolded(!folded)}>
        <Icon path={folded ? 'm8 5 5 5-5 5' : 'm12 5-5 5 5 5'} />
        <span class="text">{folded ? 'Expand the navigation' : 'Collapse'}</span>
      </button>
    </nav>
  );
}

function Icon({ path }: { path: string }) {
  return (
    <svg class="icon" viewBox="0 0 20 20" aria-hidden="true">
      <path d={path} />
    </svg>
  );
}
