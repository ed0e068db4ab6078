// Announced removals from the API (decisions §9).
import type { DescField, DescMethod } from '@bufbuild/protobuf';
import { option } from './image.ts';

/** Days in UTC, `2027-01-01`. */
export interface Deprecation {
  readonly since: string;
  /** First day on which it may be removed. */
  readonly sunset: string;
}

const LEAST_MONTHS = 12;

/** Throws if the contract announces a removal too late, so that no process starts that breaks the promise to integrators. */
export function deprecationOf(desc: DescMethod | DescField): Deprecation | undefined {
  const found = option<Deprecation>(desc, `truckroll.options.v1.${desc.kind === 'rpc' ? 'deprecated_operation' : 'deprecated_field'}`);
  return found && checkDeprecation(`${desc.parent.typeName}.${desc.name}`, { since: found.since, sunset: found.sunset });
}

export function checkDeprecation(name: string, deprecation: Deprecation): Deprecation {
  const [since, sunset] = [deprecation.since, deprecation.sunset].map((day) => new Date(/^\d{4}-\d\d-\d\d$/.test(day) ? day : NaN)) as [Date, Date];
  if (Number.isNaN(since.getTime()) || Number.isNaN(sunset.getTime())) throw new Error(`${name}: since and sunset must be days such as 2027-01-01`);
  since.setUTCMonth(since.getUTCMonth() + LEAST_MONTHS);
  if (sunset < since) throw new Error(`${name}: it may go ${LEAST_MONTHS} months after ${deprecation.since} at the earliest, not on ${deprecation.sunset}`);
  return Object.freeze(deprecation);
}
