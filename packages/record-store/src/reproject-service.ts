import type { ProjectionServiceService, ReprojectResponse } from '@truckroll/contract/gen/records/v1/projections';
import type { Handlers } from '@truckroll/grpc';
import { streamOf } from '@truckroll/process';
import type { Reprojector, ReprojectStep } from './reprojector.ts';

const MOST_REFUSED = 100;

export function projectionHandlers(reprojector: Reprojector): Handlers<typeof ProjectionServiceService> {
  return {
    reproject: ({ path }, { signal }) =>
      streamOf<ReprojectResponse>(async (emit) => {
        await reprojector.run(path === '' ? undefined : path, signal, (step) => emit(responseOf(step)));
      }),
  };
}

function responseOf({ refused, ...step }: ReprojectStep): ReprojectResponse {
  return { ...step, refused: step.done ? refused.slice(0, MOST_REFUSED) : [] };
}
