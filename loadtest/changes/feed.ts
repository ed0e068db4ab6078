// A company's change feed over HTTP.
import { setTimeout as delay } from 'node:timers/promises';

export const WAIT_SECONDS = 30;

export class Feed {
  readonly read: (path: string, signal?: AbortSignal) => Promise<string>;

  constructor(port: number, key: string) {
    this.read = async (path, signal) => {
      const headers = { authorization: `Bearer ${key}`, 'accept-encoding': 'identity' };
      const answer = await fetch(`http://127.0.0.1:${port}/api/v1/integrations/changes${path}`, { headers, ...(signal && { signal }) });
      const text = await answer.text();
      if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${text}`);
      return text;
    };
  }

  /** Only what follows the records is parsed: programs do more with them, in processes of their own. */
  async page(query: string, signal?: AbortSignal): Promise<{ cursor: string; more: boolean; empty: boolean }> {
    const text = await this.read(query, signal);
    const end = text.lastIndexOf('],"nextCursor"');
    const { nextCursor: cursor, hasMore: more } = JSON.parse(`{${text.slice(end + 2)}`) as { nextCursor: string; hasMore: boolean };
    return { cursor, more, empty: end === text.indexOf('[') + 1 };
  }
}

/** Milliseconds of each change. Pauses differ, so that changes come at any time between two looks of the services. */
export async function freshness(feed: Feed, record: () => Promise<unknown>, changes: number): Promise<number[]> {
  const times: number[] = [];
  let { cursor } = await feed.page('?cursor=now');
  for (let at = 0; at < changes; at++) {
    const waiting = feed.page(`?wait=${WAIT_SECONDS}&kinds=service-requests&cursor=${cursor}`);
    await delay(100 + ((at * 37) % 250));
    const startedAt = performance.now();
    const [page] = await Promise.all([waiting, record()]);
    if (page.empty) throw new Error('a poll was answered without the change that it waited for');
    times.push(performance.now() - startedAt);
    cursor = page.cursor;
  }
  return times;
}
