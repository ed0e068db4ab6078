import type { Company } from '../company.ts';
import type { Draw } from '../random/keyed.ts';
import { DAY, HOUR, MINUTE, SECOND } from '../time/instant.ts';

/** When an invoice is due: by its terms, never, or on an agreed date that gives it a certain age today. */
export type Due = 'terms' | 'none' | 'today' | 'ahead' | 'past 1–30' | 'past 31–60' | 'past 61–90' | 'past 91+';

const AGES = {
  today: [0, 0],
  ahead: [-25, -1],
  'past 1–30': [1, 30],
  'past 31–60': [31, 60],
  'past 61–90': [61, 90],
  'past 91+': [91, 400],
} as const;

const TERMS = [0, 0, 10, 15, 30, 30, 30, 45, 60];

/** Local times of day. Those near midnight fall on another date in UTC. */
const TIMES = [0, 12 * HOUR, 17 * HOUR, 23 * HOUR + 30 * MINUTE, DAY - SECOND];

/** Never before the day of issue: if the invoice is too new for that age, its terms apply. */
export function dueAt(company: Company, issuedAt: number, due: Due, draw: Draw): number | null {
  const issuedOn = company.zone.day(issuedAt);
  const terms = issuedOn + draw.pick(TERMS);
  const time = draw.pick(TIMES);
  if (due === 'none') return null;
  const [least, most] = due === 'terms' ? [0, 0] : AGES[due];
  const wanted = due === 'terms' ? terms : company.today - draw.between(least, most);
  return company.zone.instant((wanted < issuedOn ? terms : wanted) * DAY + time);
}
