import { useRef } from 'preact/hooks';
import type { Me } from './api/types.ts';
import { until } from './parts/time.tsx';
import { Page } from './parts/page.tsx';
import { Delivery } from './screens/delivery.tsx';
import { Endpoint } from './screens/endpoint.tsx';
import { Endpoints } from './screens/endpoints.tsx';
import { EventTypes } from './screens/event-types.tsx';
import { Home } from './screens/home.tsx';
import { Later } from './screens/later.tsx';
import { ReportsSection } from './screens/reports/section.tsx';
import { SignIn } from './screens/sign-in.tsx';
import { places, route } from './state/route.ts';
import { session, signOut } from './state/session.ts';
import { useStore } from './state/store.ts';

export function App() {
  const { signedIn, me } = useStore(session);
  return (
    <>
      {!signedIn && <SignIn />}
      {/* The screens of a user who has to sign in again stay, hidden, and another user does not get them. */}
      {me !== undefined && (
        <div key={`${me.company.id} ${me.id}`} hidden={!signedIn}>
          <Shell me={me} />
        </div>
      )}
    </>
  );
}

const SECTIONS = [
  { title: 'Home', href: places.home, first: 'home' },
  { title: 'Reports', href: places.reports, first: 'reports' },
  { title: 'Endpoints', href: places.endpoints, first: 'endpoints' },
  { title: 'API keys', href: places.keys, first: 'keys' },
  { title: 'Audit trail', href: places.audit(), first: 'audit' },
  { title: 'Event types', href: places.eventTypes, first: 'event-types' },
];

function Shell({ me: { displayName, email, company } }: { me: Me }) {
  const { path } = useStore(route);
  const { expiresAt } = useStore(session);
  const main = useRef<HTMLElement>(null);
  const [first = 'home'] = path;
  return (
    <>
      {/* The part after # is the place, so the link cannot be one to an element. */}
      <a
        class="skip"
        href="#content"
        onClick={(event) => {
          event.preventDefault();
          main.current?.focus();
        }}
      >
        Skip to the content
      </a>
      <header class="bar">
        <div class="width">
          <a class="brand" href={places.home}>
            <img src="console/icon.svg" alt="" width="28" height="28" /> Truckroll
          </a>
          <nav aria-label="Console">
            {SECTIONS.map((section) => (
              <a key={section.first} href={section.href} aria-current={section.first === first ? 'page' : undefined}>
                {section.title}
              </a>
            ))}
          </nav>
          <div class="who">
            <dl title={expiresAt && `Signed in until ${until(expiresAt)}`}>
              <div>
                <dt class="unseen">Company</dt>
                <dd class="name">{company.name}</dd>
              </div>
              <div>
                <dt class="unseen">Times are in</dt>
                <dd>{company.timezone}</dd>
              </div>
              <div>
                <dt class="unseen">User</dt>
                <dd title={email}>{displayName}</dd>
              </div>
            </dl>
            <button type="button" class="small" onClick={signOut}>
              Sign out
            </button>
          </div>
        </div>
      </header>
      <main id="content" class="width" tabIndex={-1} ref={main}>
        <Screen key={path.join('/')} path={path} />
      </main>
    </>
  );
}

function Screen({ path }: { path: readonly string[] }) {
  const [section = 'home', id, part, partId, ...more] = path;
  if (section === 'home' && id === undefined) return <Home />;
  if (section === 'reports') return <ReportsSection path={path.slice(1)} otherwise={<Nowhere />} />;
  if (more.length === 0 && section === 'endpoints') {
    if (id === undefined) return <Endpoints />;
    if (id === 'new' && part === undefined) return <Later title="Add endpoint">{({ NewEndpoint }) => <NewEndpoint />}</Later>;
    if (part === undefined) return <Endpoint id={id} />;
    if (part === 'edit' && partId === undefined) return <Later title="Edit endpoint">{({ EditEndpoint }) => <EditEndpoint id={id} />}</Later>;
    if (part === 'deliveries' && partId !== undefined) return <Delivery endpointId={id} id={partId} />;
  }
  if (section === 'keys' && id === undefined) return <Later title="API keys">{({ Keys }) => <Keys />}</Later>;
  if (section === 'keys' && id === 'new' && part === undefined) return <Later title="Create key">{({ NewKey }) => <NewKey />}</Later>;
  if (section === 'audit' && id === undefined) return <Later title="Audit trail">{({ AuditTrail }) => <AuditTrail />}</Later>;
  if (section === 'event-types' && id === undefined) return <EventTypes />;
  return <Nowhere />;
}

function Nowhere() {
  return (
    <Page title="Nothing is here">
      <p>
        This address leads nowhere. <a href={places.home}>Go to the home page</a>
      </p>
    </Page>
  );
}
