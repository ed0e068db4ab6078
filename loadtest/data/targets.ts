// Requests of the load: every page of every company, and a sample of ids, as each side addresses them.
import type { Target } from '../measure/wrk.ts';

export interface Pair {
  readonly system: Target;
  readonly baseline: Target;
}

export const LIMIT = 50;

interface Page {
  data: { id: string; created_at: string }[];
  pagination: { next_cursor: string | null };
}

export interface Caller {
  readonly companyId: string;
  readonly key: string;
}

export async function getJson<T>(port: number, { path, header: [name, value] }: Target): Promise<T> {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { [name]: value } });
  const body = (await answer.json()) as T;
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${JSON.stringify(body)}`);
  return body;
}

/** Two ids a page are enough that a cache of a few records does not help. */
export async function collectTargets(port: number, callers: readonly Caller[], idsPerPage = 2): Promise<Record<'pages' | 'details', readonly Pair[]>> {
  const pages: Pair[] = [];
  const details: Pair[] = [];
  for (const { companyId, key } of callers) {
    const pair = (path: string, after = { system: '', baseline: '' }): Pair => ({
      system: { path: path + after.system, header: ['Authorization', `Bearer ${key}`] },
      baseline: { path: path + after.baseline, header: ['X-Company-Id', companyId] },
    });
    for (let next: Pair | undefined = pair(`/v1/invoices?limit=${LIMIT}`); next !== undefined; ) {
      pages.push(next);
      const { data, pagination }: Page = await getJson<Page>(port, next.system);
      for (let n = 0; n < idsPerPage; n++) details.push(pair(`/v1/invoices/${data[(n * 29 + pages.length) % data.length]?.id}`));
      const { created_at, id } = data.at(-1) as Page['data'][number];
      const position = Buffer.from(`${created_at} ${id}`).toString('base64url');
      const after = { system: `&cursor=${pagination.next_cursor}`, baseline: `&cursor=${position}` };
      next = pagination.next_cursor === null ? undefined : pair(`/v1/invoices?limit=${LIMIT}`, after);
    }
  }
  return { pages, details };
}
