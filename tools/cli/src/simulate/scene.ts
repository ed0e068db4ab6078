import type { IntakeServiceService } from '@truckroll/contract/gen/scheduling/v1/intake';
import type { Callers } from '@truckroll/service-kit';
import type { Named, SchedulingApi, Visit } from './api.ts';
import type { Chance } from './chance.ts';
import type { Clock } from './clock.ts';

export interface DayOptions {
  readonly api: SchedulingApi;
  readonly intake: Callers<typeof IntakeServiceService>;
  readonly chance: Chance;
  /** How many times faster than real time. */
  readonly speed: number;
  /** Simulated minutes; the day is over then, wherever the requests are. */
  readonly minutes: number;
  readonly requestsPerHour: number;
  /** Aborted: the day ends now. */
  readonly signal: AbortSignal;
  say(line: string): void;
}

/** How often each thing happened. */
export type Tally = Record<'requests' | 'interactions' | 'booked' | 'added' | 'removed' | 'completed' | 'ended' | 'refused', number>;

/** The company, as far as scenarios need it. */
export interface Scene extends Omit<DayOptions, 'say'> {
  readonly companyId: string;
  readonly clock: Clock;
  readonly accounts: readonly Named[];
  readonly technicians: readonly Named[];
  readonly tally: Tally;
  say(text: string): void;
  /** A visit that no other request of this day has; undefined when there is none left. */
  freeVisit(): Visit | undefined;
}
