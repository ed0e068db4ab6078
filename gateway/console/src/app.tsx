import { useRef } from 'preact/hooks';
import type { Me } from './api/types.ts';
import { Find } from './find.tsx';
import { Navigation } from './navigation.tsx';
import { until } from './parts/time.tsx';
import { Page } from './parts/page.tsx';
import { Home } from './screens/home.tsx';
import { later } from './screens/later.tsx';
import { SignIn } from './screens/sign-in.tsx';
import { useAttention, type Attention } from './state/attention.ts';
import type { Resource } from './state/resource.ts';
import { places, route } from './state/route.ts';
import { session, signOut } from './state/session.ts';
import { useStore } from './state/store.ts';

const Integrations = later(() => import('./screens/integrations.ts'));
const Business = later(() => import('./screens/business.ts'));

export function App() {
  const { signedIn, me } = useStore(session);
  return (
    <>
      {!signedIn && <SignIn />}
      {/* The screens of a user who has to sign in again stay, hidden, and another user does not get them. */}
      {me !== undefined && (
        <div class="shell" key={`${me.company.id} ${me.id}`} hidden={!signedIn}>
          <Shell me={me} />
        </div>
      )}
    </>
  );
}

function Shell({ me: { displayName, email, company, sandbox } }: { me: Me }) {
  const { path } = useStore(route);
  const { expiresAt } = useStore(session);
  const attention = useAttention();
  const main = useRef<HTMLElement>(null);
  const { failing = 0, degraded = 0 } = attention.value ?? {};
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
        <a class="brand" href={places.home} title="Truckroll: home">
          <img src="console/icon.svg" alt="Home" width="24" height="24" /> <span class="company">{company.name}</span>
          {sandbox && <span class="badge busy">Sandbox</span>}
        </a>
        <Find />
        <dl class="who" title={expiresAt && `Signed in until ${until(expiresAt)}`}>
          <div class="zone">
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
      </header>
      <Navigation path={path} failing={failing + degraded > 0} />
      <main id="content" tabIndex={-1} ref={main}>
        <Screen key={path.join('/')} path={path} attention={attention} />
      </main>
    </>
  );
}

/** Screens of money by the second part of their address. */
const MONEY = new Map([
  [undefined, 'Money'],
  ['invoices', 'Invoices'],
  ['payments', 'Payments'],
  ['deposits', 'Deposits'],
  ['month-end', 'MonthEnd'],
] as const) as ReadonlyMap<string | undefined, 'Money' | 'Invoices' | 'Payments' | 'Deposits' | 'MonthEnd'>;

function Screen({ path, attention }: { path: readonly string[]; attention: Resource<Attention> }) {
  const [section = 'home', id, part, partId, ...more] = path;
  if (section === 'home' && id === undefined) return <Home attention={attention} />;
  if (section === 'today' && id === undefined) return <Business title="Today">{({ Today }) => <Today />}</Business>;
  if (section === 'customers' && id === undefined) return <Business title="Customers">{({ Customers }) => <Customers />}</Business>;
  if (section === 'customers' && id !== undefined && part === undefined) return <Business title="Customer">{({ Customer }) => <Customer id={id} />}</Business>;
  if (section === 'schedule' && id === undefined) return <Business title="Schedule">{({ Schedule }) => <Schedule />}</Business>;
  const money = section === 'money' && part === undefined ? MONEY.get(id) : undefined;
  if (money !== undefined)
    return (
      <Business title="Money">
        {(screens) => {
          const Money = screens[money];
          return <Money />;
        }}
      </Business>
    );
  // Links of earlier versions begin with reports.
  const record = section === 'reports' && id === 'records' ? path.slice(2) : section === 'records' ? path.slice(1) : [];
  if (record.length === 2)
    return <Business title="Record">{({ RecordScreen }) => <RecordScreen kind={record[0]!} id={record[1]!} otherwise={<Nowhere />} />}</Business>;
  if (section === 'reports')
    return <Business title="Reports">{({ ReportsSection }) => <ReportsSection path={path.slice(1)} otherwise={<Nowhere />} />}</Business>;
  if (more.length === 0 && section === 'endpoints') {
    if (id === undefined) return <Integrations title="Webhook endpoints">{({ Endpoints }) => <Endpoints />}</Integrations>;
    if (id === 'new' && part === undefined) return <Integrations title="Add endpoint">{({ NewEndpoint }) => <NewEndpoint />}</Integrations>;
    if (part === undefined) return <Integrations title="Endpoint">{({ Endpoint }) => <Endpoint id={id} />}</Integrations>;
    if (part === 'edit' && partId === undefined) return <Integrations title="Edit endpoint">{({ EditEndpoint }) => <EditEndpoint id={id} />}</Integrations>;
    if (part === 'deliveries' && partId !== undefined)
      return <Integrations title="Delivery">{({ Delivery }) => <Delivery endpointId={id} id={partId} />}</Integrations>;
  }
  if (section === 'keys' && id === undefined) return <Integrations title="API keys">{({ Keys }) => <Keys />}</Integrations>;
  if (section === 'keys' && id === 'new' && part === undefined) return <Integrations title="Create key">{({ NewKey }) => <NewKey />}</Integrations>;
  if (section === 'requests' && id === undefined) return <Integrations title="Requests">{({ Requests }) => <Requests />}</Integrations>;
  if (section === 'audit' && id === undefined) return <Integrations title="Audit trail">{({ AuditTrail }) => <AuditTrail />}</Integrations>;
  if (section === 'event-types' && id === undefined) return <Integrations title="Event types">{({ EventTypes }) => <EventTypes />}</Integrations>;
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
