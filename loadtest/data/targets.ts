// Requests of the load: every page of every company, and a sample of ids, as each side addresses them.
import type { Target } from '../measure/wrk.ts';

export interface Pair {
  readonly system: Target;
  readonly baseline: Target;
}

export interface Targets {
  readonly pages: readonly Pair[];
  readonly details: readonly Pair[];
}

/** Enough that a cache of a few records does not help. */
const IDS_PER_PAGE = 2;
const LIMIT = 50;

interface Page {
  data: { id: string; created_at: string }[];
  pagination: { next_cursor: string | null };
}

export interface Caller {
  readonly companyId: string;
  readonly key: string;
}

const asSystem = ({ key }: Caller): Target['header'] => ['Authorization', `Bearer ${key}`];
const asBaseline = ({ companyId }: Caller): Target['header'] => ['X-Company-Id', companyId];

export async function getJson<T>(port: number, { path, header: [name, value] }: Target): Promise<T> {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { [name]: value } });
  const body = (await answer.json()) as T;
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${JSON.stringify(body)}`);
  return body;
}

export async function collectTargets(port: number, callers: readonly Caller[]): Promise<Targets> {
  const pages: Pair[] = [];
  const details: Pair[] = [];
  for (const caller of callers) {
    const pair = (system: string, baseline: string): Pair => ({
      system: { path: system, header: asSystem(caller) },
      baseline: { path: baseline, header: asBaseline(caller) },
    });
    for await (const { paths, page } of pagesOf(port, caller)) {
      pages.push(pair(paths.system, paths.baseline));
      for (let n = 0; n < IDS_PER_PAGE; n++) {
        const { id } = page.data[(n * 29 + pages.length) % page.data.length] as Page['data'][number];
        details.push(pair(`/v1/invoices/${id}`, `/v1/invoices/${id}`));
      }
    }
  }
  return { pages, details };
}

async function* pagesOf(port: number, caller: Caller) {
  let paths = { system: `/v1/invoices?limit=${LIMIT}`, baseline: `/v1/invoices?limit=${LIMIT}` };
  for (;;) {
    const page = await getJson<Page>(port, { path: paths.system, header: asSystem(caller) });
    yield { paths, page };
    const { next_cursor: cursor } = page.pagination;
    const last = page.data.at(-1);
    if (cursor === null || last === undefined) return;
    const position = Buffer.from(`${last.created_at} ${last.id}`).toString('base64url');
    paths = { system: `/v1/invoices?limit=${LIMIT}&cursor=${cursor}`, baseline: `/v1/invoices?limit=${LIMIT}&cursor=${position}` };
  }
}
