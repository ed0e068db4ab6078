import { isDeepStrictEqual } from 'node:util';
import { until } from '@truckroll/testing/until';

type Fields = Record<string, unknown>;

/** Resolves once the feed shows every change that was committed before. A transaction of another test file may hold it back. */
export async function feedIsCurrent(baseUrl: string, apiKey: string): Promise<void> {
  const now = Date.now();
  const asOf = async (): Promise<number> => {
    const response = await fetch(`${baseUrl}/api/v1/integrations/changes?cursor=now`, { headers: { authorization: `Bearer ${apiKey}` } });
    return Date.parse(((await response.json()) as { asOf: string }).asOf);
  };
  await until('the change feed to show every change', asOf, (moment) => moment >= now);
}

/** Whether both have the same records, except for what follows the clock, which the feed does not announce. */
export function haveSameRecords(own: readonly any[], theirs: readonly any[]): boolean {
  const [left, right] = [own, theirs].map((records) => JSON.parse(JSON.stringify(records.map(withoutAging).sort(byId))));
  return isDeepStrictEqual(left, right);
}

export const byId = (a: Fields, b: Fields): number => (String(a['id']) < String(b['id']) ? -1 : 1);
/** The feed does not announce what follows the clock (decisions §14, rule 6). */
export const withoutAging = ({ aging: _, ...record }: Fields): Fields => record;
