import type { Visit, VisitJob, VisitLocation } from '@truckroll/contract/gen/scheduling/v1/job_appointments';
import type { Job } from '@truckroll/contract/gen/scheduling/v1/jobs';
import type { Location } from '@truckroll/contract/gen/scheduling/v1/locations';

/** A visit's location: that of its job, or the line's until the job has arrived. */
export function locationIdOf(job: Job | undefined, line: VisitJob | null | undefined): string | undefined {
  return job?.location_id ?? line?.location?.id;
}

const NIL = '00000000-0000-0000-0000-000000000000';

/** Used while neither the job nor a copy of it has arrived, since a read always contains a job. */
function unknownJob(id: string): VisitJob {
  return { id, number: '', account: { id: NIL, name: '' }, location: null };
}

/** Shows the latest job and location, or the line's copies until they arrive. Of a location that is neither stored nor the line's, only the id is known. */
export function visitJobOf(visit: Pick<Visit, 'job_id' | 'job'>, job: Job | undefined, location: Location | undefined): VisitJob {
  const line = visit.job ?? unknownJob(visit.job_id);
  const shown = job ?? line;
  const id = locationIdOf(job, line) ?? NIL;
  const copy = line.location?.id === id ? line.location : { id, name: '', address: '' };
  return {
    id: visit.job_id,
    number: shown.number,
    summary: shown.summary ?? null,
    account: shown.account,
    contact: shown.contact ?? null,
    business_unit: shown.business_unit ?? null,
    job_type: shown.job_type ?? null,
    job_class: shown.job_class ?? null,
    location: location === undefined ? copy : shownOf(location),
  };
}

function shownOf({ id, name, address, latitude, longitude }: Location): VisitLocation {
  return { id, name, address: address?.formatted ?? '', latitude: latitude ?? null, longitude: longitude ?? null };
}
