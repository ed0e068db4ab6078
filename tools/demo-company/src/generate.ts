import { buildCompany } from './build-company.ts';
import type { Company, DemoFile } from './company.ts';
import type { DemoOptions } from './options.ts';
import { hash, stream } from './random.ts';
import { PATHS, sourceOf } from './sources.ts';
import { BUSINESS_FIRST } from './words/people.ts';

export function filesOf(company: Company, paths: readonly string[] = PATHS): DemoFile[] {
  return paths.map((path) => ({ path, records: { [Symbol.iterator]: () => sourceOf(path).all(company)[Symbol.iterator]() } }));
}

/**
 * A field-service company in the public record shapes (decisions §1), file by file. Nothing is kept, so memory use does not depend
 * on the size. The same options give the same records; another seed shares no id. Records come after those they refer to. Throws
 * RangeError for unusable options.
 */
export function generateCompany(options: DemoOptions): DemoFile[] {
  return filesOf(buildCompany(options));
}

const NAMES = stream('names of companies');
const ENDINGS = ['Comfort & Plumbing', 'Home Services', 'Heating & Air', 'Mechanical'];

export function describeCompany({ seed, timezone }: Pick<DemoOptions, 'seed' | 'timezone'>) {
  const die = hash(seed, NAMES, 0);
  const first = BUSINESS_FIRST[die % 18] as string;
  return { name: `${first} ${ENDINGS[(die >>> 16) % ENDINGS.length]}`, timezone, currency: 'USD' as const };
}
