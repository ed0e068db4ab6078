import { generateCompany, type DemoOptions } from '../src/index.ts';

export type Json = Record<string, any>;

export const SMALL: DemoOptions = {
  seed: 1,
  size: 'small',
  timezone: 'America/Chicago',
  until: '2026-03-10T16:00:00Z',
};

export function loadCompany(options: Partial<DemoOptions> = {}): Readonly<Record<string, readonly Json[]>> {
  const files = generateCompany({ ...SMALL, ...options });
  return Object.fromEntries(files.map(({ path, records }) => [path, [...records] as Json[]]));
}
