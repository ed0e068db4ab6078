import type { VisitJob } from '@truckroll/contract/gen/scheduling/v1/job_appointments';
import type { Job } from '@truckroll/contract/gen/scheduling/v1/jobs';
import type { Location } from '@truckroll/contract/gen/scheduling/v1/locations';

/** Where a visit goes: its job's location, or the one that its line told while the job has not arrived. */
export function locationIdOf(job: Job | undefined, line: VisitJob | null | undefined): string | undefined {
  return job?.location_id ?? line?.location?.id;
}

/**
 * What a visit shows of its job: the latest of job and location, each the line's copy while it has not arrived. Of a
 * location that is neither here nor the one that the line describes, the id is all there is to say.
 */
export function visitJobOf(line: VisitJob | null | undefined, job: Job | undefined, location: Location | undefined): VisitJob | null {
  const shown = job ?? line;
  if (shown == null) return null;
  const id = locationIdOf(job, line) ?? '';
  const copy = line?.location?.id === id ? line.location : { id, name: '', address: '' };
  return {
    id: shown.id,
    number: shown.number,
    summary: shown.summary ?? null,
    account: shown.account,
    contact: shown.contact ?? null,
    business_unit: shown.business_unit ?? null,
    job_type: shown.job_type ?? null,
    job_class: shown.job_class ?? null,
    location:
      location === undefined
        ? copy
        : {
            id,
            name: location.name,
            address: location.address?.formatted ?? '',
            latitude: location.latitude ?? null,
            longitude: location.longitude ?? null,
          },
  };
}
