// The public API's reports and lists, as the console's reports use them.
import { request, requestText, type Query } from './client.ts';
import { MOST_ROWS, newestOf, type Listed } from './newest.ts';
import { Problem } from './problem.ts';

/** The largest page. */
const PAGE = 100;
/** Relative to /api/v1/integrations/. */
export const PUBLIC = '../../../v1/';

export interface ReportRow {
  readonly period_start: string;
  readonly period_end: string;
  readonly group: { readonly value: string | null; readonly label: string | null } | null;
  readonly [column: string]: unknown;
}

export interface ReportAnswer {
  readonly rows: readonly ReportRow[];
  /** The time up to which everything committed is in the figures; the earliest of all pages. */
  readonly asOf: string;
  /** Settings of the company that the job reports follow. */
  readonly settings: { readonly costing_enabled?: boolean; readonly verified_only?: boolean };
}

const cursorIn = (answer: Readonly<Record<string, unknown>>): string | undefined =>
  (answer['pagination'] as { next_cursor: string | null }).next_cursor ?? undefined;

export async function readReport(name: string, query: Query, signal?: AbortSignal): Promise<ReportAnswer> {
  const rows: ReportRow[] = [];
  let asOf: string | undefined;
  let settings: ReportAnswer['settings'];
  let cursor: string | undefined;
  do {
    const answer = await request('GET', `${PUBLIC}reports/${name}`, { query: { ...query, limit: PAGE, cursor }, ...(signal && { signal }) });
    rows.push(...(answer['data'] as ReportRow[]));
    const report = answer['report'] as ReportAnswer['settings'] & { readonly as_of: string };
    if (asOf === undefined || report.as_of < asOf) asOf = report.as_of;
    settings = report;
    cursor = cursorIn(answer);
    if (cursor !== undefined && rows.length >= MOST_ROWS) {
      throw new Problem(`This view has more than ${MOST_ROWS} rows. Choose a shorter period, longer intervals or a filter.`, { code: 'TOO_MANY_ROWS' });
    }
  } while (cursor !== undefined);
  return { rows, asOf: asOf, settings };
}

export async function readReportCsv(name: string, query: Query): Promise<string> {
  let text = '';
  let next: string | undefined = `${PUBLIC}reports/${name}`;
  let asking: Query = { ...query, limit: PAGE };
  while (next !== undefined) {
    const { body, link }: { body: string; link: string | null } = await requestText(next, asking);
    // Every page repeats the line of column names.
    text += text === '' ? body : body.slice(body.indexOf('\n') + 1);
    const cursor = link === null ? null : new URL(/<([^>]*)>/.exec(link)?.[1] ?? '', document.baseURI).searchParams.get('cursor');
    if (cursor === null) next = undefined;
    else asking = { ...query, limit: PAGE, cursor };
  }
  return text;
}

export type { Listed } from './newest.ts';

/** The first records of a list, at most about `most`. */
export async function readList<T>(path: string, query: Query, most: number, signal?: AbortSignal): Promise<Listed<T>> {
  const records: T[] = [];
  let more = false;
  for await (const page of pagesOf<T>(path, query, signal)) {
    records.push(...page.records);
    more = page.more;
    if (records.length >= most) break;
  }
  return { records, more };
}

/** The records of a list that were created last, at most `most`. The API begins with the first. */
export async function readNewest<T extends { readonly created_at: string }>(path: string, query: Query, most: number, signal: AbortSignal): Promise<Listed<T>> {
  const first = await readList<T>(path, query, 1, signal);
  if (!first.more) return first;
  const at = (ms?: number): Query[string] => ms && new Date(ms).toISOString();
  return newestOf<T>(
    (start, end, limit) => readList(path, { ...query, created_from: at(start), created_before: at(end) }, limit, signal),
    Date.parse(first.records[0]!.created_at),
    most,
  );
}

/** A list, page by page: pages of 100 records, unless the query has a limit. */
export async function* pagesOf<T>(path: string, query: Query, signal?: AbortSignal): AsyncGenerator<Listed<T>> {
  let cursor: string | undefined;
  do {
    const answer = await request('GET', `${PUBLIC}${path}`, { query: { limit: PAGE, ...query, cursor }, ...(signal && { signal }) });
    cursor = cursorIn(answer);
    yield { records: answer['data'] as T[], more: cursor !== undefined };
  } while (cursor !== undefined);
}

export async function readRecord<T>(path: string, id: string, signal: AbortSignal): Promise<T> {
  return (await request('GET', `${PUBLIC}${path}/${encodeURIComponent(id)}`, { signal }))['data'] as T;
}
