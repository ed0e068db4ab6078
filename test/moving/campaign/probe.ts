// What clients of a company notice: how long a cheap read takes, and how far the change feed is behind.
import { setTimeout as delay } from 'node:timers/promises';
import type { TestCompany } from '../../support/company.ts';

export interface Probed {
  /** When the answer was there, in ms of performance.now(). */
  readonly at: number;
  readonly tookMs: number;
  /** 0 if none came. */
  readonly status: number;
  /** Age of the newest moment that the feed shows in full. */
  readonly lagMs?: number;
}

export interface Probing {
  readonly baseUrl: string;
  readonly company: TestCompany;
  readonly path: string;
  readonly everyMs: number;
  readonly goesOn: () => boolean;
}

export const NOW = '/api/v1/integrations/changes?cursor=now';
const LONGEST_ANSWER_MS = 12_000;

export async function probe({ baseUrl, company, path, everyMs, goesOn }: Probing): Promise<Probed[]> {
  const found: Probed[] = [];
  while (goesOn()) {
    const sentAt = performance.now();
    const answer = await ask(baseUrl + path, company.apiKey);
    const at = performance.now();
    found.push({ at, tookMs: at - sentAt, ...answer });
    await delay(Math.max(0, everyMs - (at - sentAt)));
  }
  return found;
}

async function ask(url: string, apiKey: string): Promise<Pick<Probed, 'status' | 'lagMs'>> {
  try {
    const response = await fetch(url, { headers: { authorization: `Bearer ${apiKey}` }, signal: AbortSignal.timeout(LONGEST_ANSWER_MS) });
    const { asOf } = (await response.json()) as { asOf?: string };
    return { status: response.status, ...(asOf !== undefined && { lagMs: Date.now() - Date.parse(asOf) }) };
  } catch {
    return { status: 0 };
  }
}

export interface Gap {
  readonly from: number;
  readonly ms: number;
}

/** The longest time without one of these moments, from the last one before `from` to the first one after `to`. */
export function longestGap(moments: readonly number[], from: number, to: number): Gap {
  const sorted = moments.toSorted((a, b) => a - b);
  const gaps = sorted.slice(1).flatMap((at, i) => (at >= from && sorted[i]! <= to ? [{ from: sorted[i]!, ms: at - sorted[i]! }] : []));
  return gaps.reduce((longest, gap) => (gap.ms > longest.ms ? gap : longest), { from, ms: 0 });
}

export function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;
}
