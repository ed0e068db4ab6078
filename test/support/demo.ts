import { generateCompany, type DemoOptions } from '@truckroll/demo-company';
import type { Json } from './expected.ts';

/** Members have two years of working time, however few jobs the company has. Of it these are enough. */
const MOST = { 'time-entries': 150, timesheets: 150 } as Readonly<Record<string, number>>;

/** The lines of a generated company by path, in the order of their import. */
export function demoLines(options: DemoOptions): [path: string, lines: Json[]][] {
  return generateCompany(options).map(({ path, records }) => [path, [...records].slice(0, MOST[path]) as Json[]]);
}
