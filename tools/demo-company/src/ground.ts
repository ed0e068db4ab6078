import type { CompanyShape, Size } from './options.ts';
import type { Zone } from './time.ts';

export interface City {
  readonly name: string;
  readonly state: string;
  /** First three digits of the city's postal codes. */
  readonly postal: string;
  readonly latitude: number;
  readonly longitude: number;
  readonly areaCode: string;
}

export interface Reference {
  readonly id: string;
  readonly name: string;
}

/** A record that another one may name; `name` is missing when the id is enough. */
export interface Candidate {
  readonly id: string;
  readonly name?: string;
}

export interface Ground {
  readonly seed: number;
  readonly size: Size;
  readonly shape: CompanyShape;
  readonly zone: Zone;
  readonly cities: readonly City[];
  /** Accounts start at `founded`, jobs at `since`; nothing is recorded after `until`. */
  readonly founded: number;
  readonly since: number;
  readonly until: number;
  /** Working time and filled-in forms are recorded from then on. */
  readonly clockedSince: number;
  /** Company-local day number of `until`. */
  readonly today: number;
}
