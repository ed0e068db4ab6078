import type { LifecycleStage } from '@truckroll/contract/gen/scheduling/v1/job_lifecycles';
import type { Company } from '../company.ts';
import { drawOf, idOf } from '../ground.ts';
import { stream, type Draw } from '../random/keyed.ts';
import { Rota } from '../random/rota.ts';
import type { JobType } from '../reference/job-types.ts';
import { DAY, MINUTE } from '../time/instant.ts';
import { batchOf, bookedAtOf, jobCustomer, slotOf, typeOf } from './job-customer.ts';
import type { JobPlan, VisitPlan } from '../plans.ts';
import { appointmentsOf, boardPlace, windowOf, type Appointment } from './visit-plan.ts';
import type { Spelled } from '../shapes/given.ts';

export const JOBS = stream('jobs');
const PLANS = stream('plans of jobs');

type Fate = 'complete' | 'cancel' | 'hold' | 'open';

const FATES = new Rota<Fate>('fates of jobs', [
  ['complete', 33],
  ['cancel', 3],
  ['hold', 2],
  ['open', 1],
]);

function jobNumber(n: number): string {
  return `${10_001 + n}`;
}

export function planJob(company: Company, n: number): JobPlan {
  const draw = drawOf(company, PLANS, n);
  const slot = slotOf(company, n);
  const bookedAt = bookedAtOf(company, n);
  const type = typeOf(company, n);
  const customer = jobCustomer(company, n, type);
  const night = company.nightJobs.get(n);
  const batch = batchOf(company, n);
  const settled = night || batch !== null || boardPlace(company, n) !== null;
  const fate = settled ? 'complete' : FATES.at(company.seed, n);
  const appointments = slot ? [slot] : appointmentsOf(company, n, type, bookedAt, night, draw);
  const stage = stageOf(company, type, fate, appointments, bookedAt, draw);
  const canceledAt = stage === 'CANCELED' ? cancellation(company, bookedAt, appointments, draw) : null;
  const finished = appointments.at(-1)?.endsAt ?? bookedAt + draw.between(60, 5_000) * MINUTE;
  const done = stage === 'COMPLETED' || stage === 'WON' || stage === 'LOST';
  return {
    ...customer,
    n,
    id: idOf(company, JOBS, n),
    number: jobNumber(n),
    type,
    jobType: draw.orNull(0.06, type.ref),
    unit: draw.orNull(0.06, type.unit.ref),
    jobClass: draw.orNull(0.06, type.jobClass),
    lifecycle: type.lifecycle,
    bookedAt,
    stage,
    completedAt: done ? Math.min(finished + draw.below(90 * 60) * 1_000_000, company.until) : null,
    canceledAt,
    visits: visitsOf(company, n, bookedAt, canceledAt, appointments, draw),
    batch,
  };
}

function stageOf(company: Company, type: JobType, fate: Fate, appointments: readonly Appointment[], bookedAt: number, draw: Draw): Spelled<LifecycleStage> {
  const { until } = company;
  const last = appointments.at(-1);
  if (fate === 'cancel') return 'CANCELED';
  if (!last) return bookedAt < until - 10 * DAY && draw.chance(0.6) ? 'COMPLETED' : 'NEW';
  if (appointments.some(({ startsAt, endsAt }) => startsAt <= until && endsAt > until)) return 'IN_PROGRESS';
  if (last.endsAt > until) return (appointments[0] as Appointment).startsAt > until ? 'SCHEDULED' : 'ON_HOLD';
  if (fate === 'hold') return 'ON_HOLD';
  if (fate === 'open') return 'IN_PROGRESS';
  if (type.opportunity) return draw.pick(['WON', 'WON', 'LOST', 'LOST', 'COMPLETED'] as const);
  return 'COMPLETED';
}

function cancellation(company: Company, bookedAt: number, appointments: readonly Appointment[], draw: Draw): number {
  const latest = Math.min(appointments.at(-1)?.startsAt ?? company.until, company.until);
  return bookedAt + Math.floor(draw.next() * Math.max(0, latest - bookedAt));
}

/** Visits after a job's cancellation are canceled; in other jobs, an occasional visit that was moved is. */
function visitsOf(company: Company, n: number, bookedAt: number, canceledAt: number | null, appointments: readonly Appointment[], draw: Draw): VisitPlan[] {
  const first = company.visitDeck.before(n);
  return appointments.map(({ startsAt, endsAt }, k) => {
    const [windowStartsAt, windowEndsAt] = windowOf(company, startsAt, draw);
    const moved = k < appointments.length - 1 && draw.chance(0.1);
    return {
      k,
      index: first + k,
      bookedAt: k === 0 ? bookedAt : Math.min((appointments[k - 1] as Appointment).endsAt, company.until),
      startsAt,
      endsAt,
      windowStartsAt,
      windowEndsAt,
      canceled: canceledAt === null ? moved : startsAt >= canceledAt,
      confirmed: draw.chance(0.8),
    };
  });
}
