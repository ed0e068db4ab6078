// What programs sent with the company's keys, and what was wrong with it.
import { listKeys, listRequests, type RequestFilter } from '../api/integrations.ts';
import { Problem } from '../api/problem.ts';
import type { LoggedRequest } from '../api/types.ts';
import { Badge } from '../parts/badge.tsx';
import { Breakable } from '../parts/breakable.tsx';
import { number } from '../parts/figures.ts';
import { MomentInput, isReversed } from '../parts/moment-input.tsx';
import { Page } from '../parts/page.tsx';
import { Table, type Column } from '../parts/table.tsx';
import { clock, milliseconds, Time } from '../parts/time.tsx';
import { useResource } from '../state/resource.ts';
import { go, goInstead, places, route } from '../state/route.ts';
import { useStore } from '../state/store.ts';
import { MOST_LINES } from '../xlsx/sheet.ts';
import { RecordsDownload, saveWorkbook } from './reports/downloads.tsx';

/** Poll interval in ms of the newest page: a request appears within seconds. */
const NEWEST_MS = 5000;
const FAILURES = [400, 401, 404, 405, 409, 410, 413, 414, 429, 431, 499, 500, 503].map(String);
const STATUSES = new Map([
  ['failed', FAILURES],
  ['succeeded', ['200', '201', '202']],
]);

const NAMES = ['key', 'status', 'route', 'from', 'before', 'cursor'] as const;
type Narrowing = Readonly<Partial<Record<(typeof NAMES)[number], string | undefined>>>;

const filterOf = ({ status, ...rest }: Narrowing): RequestFilter => ({ ...rest, status: STATUSES.get(status ?? '') ?? status });

/** What a range that ends before it begins has. */
const NONE = Promise.resolve({ data: [], nextCursor: null });

/** "query created_from: INVALID_FORMAT" */
const faults = ({ errorCode, details }: LoggedRequest): string[] =>
  details.length === 0 ? (errorCode === null ? [] : [errorCode]) : details.map(({ location, field, code }) => `${location} ${field ?? '…'}: ${code}`);

export function Requests() {
  const { query } = useStore(route);
  const narrowing: Narrowing = Object.fromEntries(NAMES.map((name) => [name, query.get(name) || undefined]));
  const { cursor, key = '', status = '', route: of, from, before } = narrowing;
  const keys = useResource('keys', listKeys);
  const reversed = isReversed(from, before);
  const load = (signal: AbortSignal) => (reversed ? NONE : listRequests(filterOf(narrowing), signal));
  const requests = useResource(`requests ${JSON.stringify(narrowing)}`, load, undefined, undefined, cursor === undefined ? NEWEST_MS : undefined);
  const page = requests.value;
  const to = (change: Narrowing): string => places.requests({ ...narrowing, cursor: undefined, ...change });
  const known = new Map((keys.value ?? []).map(({ id, name }) => [id, name]));
  if (key !== '' && !known.has(key)) known.set(key, page?.data[0]?.key.name ?? 'a key that was revoked');

  const columns: readonly Column<LoggedRequest>[] = [
    {
      title: 'When',
      cell: ({ at, durationMs }) => (
        <>
          <Time at={at} />
          <span class="soft below">
            {clock(new Date(at))}, {milliseconds(durationMs)}
          </span>
        </>
      ),
    },
    {
      title: 'Key',
      cell: ({ key: { id, name }, address }) => (
        <>
          <a class="name" href={to({ key: id })}>
            {name ?? 'Revoked key'}
          </a>
          {address !== null && <span class="soft below">{address}</span>}
        </>
      ),
    },
    {
      title: 'Request',
      cell: ({ method, route: path, id }) => (
        <>
          {method} {path === null ? <span class="soft">nothing is at its path</span> : <a href={to({ route: path })}>{<Breakable text={path} />}</a>}
          <span class="soft below">
            <code>{id}</code>
          </span>
        </>
      ),
    },
    { title: 'Answer', cell: ({ status: answered }) => <Badge tone={answered < 400 ? 'good' : 'bad'}>{answered}</Badge> },
    {
      title: 'What was wrong',
      cell: (each) => {
        const found = faults(each);
        return found.length === 0 ? (
          <span class="soft">Nothing</span>
        ) : (
          found.map((fault) => (
            <code class="below" key={fault}>
              {fault}
            </code>
          ))
        );
      },
    },
  ];

  return (
    <Page
      title="Requests"
      live={[requests]}
      actions={page !== undefined && page.data.length > 0 && <RecordsDownload make={(onProgress) => download(narrowing, onProgress)} />}
    >
      <p class="lead">
        What programs sent with the company’s keys: of each key the newest 10,000 requests that succeeded and the newest 10,000 that failed, for 7 days. Values
        are not kept.
      </p>
      <form class="filters" aria-label="Filter requests" onSubmit={(event) => event.preventDefault()}>
        <label>
          Key
          <select name="key" value={key} onChange={({ currentTarget: { value } }) => go(to({ key: value }))}>
            <option value="">All</option>
            {[...known].map(([id, name]) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <label>
          Answer
          <select name="status" value={status} onChange={({ currentTarget: { value } }) => go(to({ status: value }))}>
            <option value="">All</option>
            <option value="failed">Failed</option>
            <option value="succeeded">Succeeded</option>
            {FAILURES.map((each) => (
              <option key={each} value={each}>
                {each}
              </option>
            ))}
          </select>
        </label>
        <MomentInput name="from" label="From" at={from} onGiven={(at) => goInstead(to({ from: at }))} />
        <MomentInput name="before" label="To" at={before} since={from} onGiven={(at) => goInstead(to({ before: at }))} />
      </form>
      {of !== undefined && (
        <p>
          Only requests of {of}. <a href={to({ route: undefined })}>Show all</a>
        </p>
      )}
      {page?.data.length === 0 && !reversed && (
        <div class="empty">
          <p>{page.nextCursor === null ? 'No requests match.' : 'None of the newest requests match. Older ones may.'}</p>
        </div>
      )}
      {page !== undefined && page.data.length > 0 && <Table caption="Requests, newest first" columns={columns} rows={page.data} rowKey={({ id }) => id} />}
      {page !== undefined && (cursor !== undefined || page.nextCursor !== null) && (
        <nav class="pages" aria-label="Pages of requests">
          {cursor !== undefined && (
            <a class="button" href={to({})}>
              Newest
            </a>
          )}
          {page.nextCursor !== null && (
            <a class="button" href={to({ cursor: page.nextCursor })}>
              Older
            </a>
          )}
        </nav>
      )}
    </Page>
  );
}

/** Saves all requests that match, newest first. */
async function download(narrowing: Narrowing, onProgress: (count: number) => void): Promise<void> {
  const rows: (string | number | null)[][] = [];
  let cursor: string | undefined;
  do {
    const { data, nextCursor } = await listRequests({ ...filterOf(narrowing), cursor, limit: 100 });
    for (const each of data) {
      const { at, key, method, route: path, status, errorCode, details, durationMs, address, id } = each;
      rows.push([at, key.name, method, path, status, errorCode, details.length === 0 ? null : faults(each).join('\n'), durationMs, address, id]);
    }
    onProgress(rows.length);
    if (nextCursor !== null && rows.length >= MOST_LINES) {
      throw new Problem(`There are more than ${number(MOST_LINES)} requests, the most that a spreadsheet is made of here. Choose a key or a shorter time.`);
    }
    cursor = nextCursor ?? undefined;
  } while (cursor !== undefined);
  const titles = ['When (UTC)', 'Key', 'Method', 'Route', 'Status', 'Error', 'What was wrong', 'Milliseconds', 'Address', 'Request id'];
  const columns = titles.map((title) => ({ title, kind: title === 'Status' || title === 'Milliseconds' ? ('count' as const) : ('text' as const) }));
  await saveWorkbook('truckroll-requests', [{ name: 'Requests', facts: [], columns, rows, total: undefined }]);
}
