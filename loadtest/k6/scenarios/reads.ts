// Lists read to their end, details and filters. One iteration is one request, so that k6's rate is a rate of requests.
import { nextCursor, parsed, type Answer, type Client, type Operation, type Turn, type World } from './api.ts';

/** The lists that integrations read most, with at least one of each owner. */
const LISTS = ['invoices', 'jobs', 'job-appointments', 'payments', 'accounts', 'job-assignments', 'locations', 'job-financials'] as const;
export const DETAILS = ['invoices', 'jobs', 'job-appointments', 'payments', 'accounts', 'job-financials'] as const;
const FILTERS = [
  'invoices?status=OPEN',
  'invoices?issued_from=2026-01-01&issued_before=2026-02-01',
  'jobs?job_class=SERVICE',
  'job-appointments?dispatch_status=UNASSIGNED',
  'job-appointments?canceled=true',
  'payments?method=CARD',
  'payments?status=PAID&occurred_from=2026-01-01&occurred_before=2026-01-08',
  'team-members?status=ACTIVE&assignable=true',
] as const;

function of<T>(values: readonly T[], number: number): T {
  return values[number % values.length] as T;
}

async function page(client: Client, operation: Operation, credential: string, turn: Turn): Promise<void> {
  const path = turn.own[`${operation} path`] ?? `/v1/${of(LISTS, turn.number)}?limit=50`;
  const cursor = turn.own[`${operation} cursor`];
  const answer = await client.ask(operation, { path: cursor === undefined ? path : `${path}&cursor=${cursor}`, credential, expect: [200] });
  if (answer.status !== 200) return;
  const next = nextCursor(answer);
  turn.own[`${operation} cursor`] = next;
  turn.own[`${operation} path`] = next === undefined ? undefined : path;
  if (client.thorough) checkPage(client, operation, answer);
}

function checkPage(client: Client, operation: Operation, answer: Answer): void {
  const { data, pagination, meta } = parsed<{ data?: unknown; pagination?: { next_cursor?: unknown }; meta?: { request_id?: unknown } }>(answer);
  if (!Array.isArray(data)) client.wrong(operation, 'data is no list');
  if (pagination?.next_cursor === undefined) client.wrong(operation, 'a page without pagination.next_cursor');
  if (typeof meta?.request_id !== 'string') client.wrong(operation, 'a page without meta.request_id');
}

type Ask = (client: Client, operation: Operation, credential: string, turn: Turn) => Promise<void>;

/** A scenario that asks one company; the huge and the empty one may be missing. */
const asking = (ask: Ask, operation: Operation, of: 'usual' | 'huge' | 'empty') => async (client: Client, world: World, turn: Turn) => {
  const credential = world.credentials[of];
  if (credential !== undefined) await ask(client, operation, credential, turn);
};

export const list = asking(page, 'list', 'usual');
export const listHuge = asking(page, 'list_huge', 'huge');
export const listEmpty = asking(page, 'list_empty', 'empty');

export async function detail(client: Client, { credentials: { usual: credential }, ids }: World, turn: Turn): Promise<void> {
  const filled = DETAILS.filter((name) => (ids[name] ?? []).length > 0);
  const path = of(filled, turn.number);
  const id = of(ids[path] ?? [], Math.floor(turn.number / DETAILS.length));
  const answer = await client.ask('detail', { path: `/v1/${path}/${id}`, credential, expect: [200] });
  if (client.thorough && answer.status === 200 && parsed<{ data?: { id?: unknown } }>(answer).data?.id !== id)
    client.wrong('detail', `${path}/${id} is another record`);
}

async function filtered(client: Client, operation: Operation, credential: string, turn: Turn): Promise<void> {
  const answer = await client.ask(operation, { path: `/v1/${of(FILTERS, turn.number)}&limit=50`, credential, expect: [200] });
  if (client.thorough && answer.status === 200) checkPage(client, operation, answer);
}

export const filter = asking(filtered, 'filter', 'usual');
export const filterHuge = asking(filtered, 'filter_huge', 'huge');
