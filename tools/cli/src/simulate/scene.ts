import type { IntakeServiceService } from '@truckroll/contract/gen/scheduling/v1/intake';
import type { Callers } from '@truckroll/grpc';
import type { Named, SchedulingApi, Visit } from './api.ts';
import type { Chance } from './chance.ts';
import type { Clock } from './clock.ts';

export interface DayOptions {
  readonly api: SchedulingApi;
  readonly intake: Callers<typeof IntakeServiceService>;
  readonly chance: Chance;
  /** Simulated time per real time. */
  readonly speed: number;
  /** Length of the day in simulated minutes; it ends in any state of the requests. */
  readonly minutes: number;
  readonly requestsPerHour: number;
  /** Aborting it ends the day at once. */
  readonly signal: AbortSignal;
  say(line: string): void;
}

export type Tally = Record<'requests' | 'interactions' | 'booked' | 'added' | 'removed' | 'completed' | 'ended' | 'refused', number>;

export interface Scene extends Omit<DayOptions, 'say'> {
  readonly companyId: string;
  readonly clock: Clock;
  readonly accounts: readonly Named[];
  readonly technicians: readonly Named[];
  readonly tally: Tally;
  say(text: string): void;
  /** A visit that no other request of this day has taken; undefined if there is none left. */
  freeVisit(): Visit | undefined;
}
