import type { LifecycleStage } from '@truckroll/contract/gen/scheduling/v1/job_lifecycles';
import type { JobClass } from '@truckroll/contract/gen/type/v1/type';
import type { Reference } from './ground.ts';
import type { Lifecycle } from './reference/job-lifecycles.ts';
import type { JobType } from './reference/job-types.ts';
import type { Spelled } from './shapes/given.ts';

export interface VisitPlan {
  readonly k: number;
  readonly index: number;
  readonly bookedAt: number;
  readonly startsAt: number;
  readonly endsAt: number;
  readonly windowStartsAt: number;
  readonly windowEndsAt: number;
  readonly canceled: boolean;
  readonly confirmed: boolean;
}

export interface JobCustomer {
  readonly account: number;
  readonly location: number;
  /** −1 when no contact is named. */
  readonly contact: number;
  readonly original: number | null;
}

/** The facts of a job that other records must agree with. Recomputed wherever they are needed. */
export interface JobPlan extends JobCustomer {
  readonly n: number;
  readonly id: string;
  readonly number: string;
  /** The job's actual type, even when the record does not name one. */
  readonly type: JobType;
  readonly jobType: Reference | null;
  readonly unit: Reference | null;
  readonly jobClass: Spelled<JobClass> | null;
  readonly lifecycle: Lifecycle;
  readonly bookedAt: number;
  readonly stage: Spelled<LifecycleStage>;
  readonly completedAt: number | null;
  readonly canceledAt: number | null;
  readonly visits: readonly VisitPlan[];
  readonly batch: number | null;
}
