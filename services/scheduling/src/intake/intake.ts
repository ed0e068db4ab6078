// IntakeService: the company's own systems record service requests and interactions (decisions §6).
import { ApiError } from '@truckroll/contract';
import type { IntakeServiceService } from '@truckroll/contract/gen/scheduling/v1/intake';
import type { Handlers } from '@truckroll/grpc';
import { batchedRecorder } from './batch.ts';
import { completeInteraction, readInteraction, recordInteraction } from './interactions.ts';
import { bookServiceRequest, changeStatus } from './move.ts';
import { recordServiceRequest } from './record.ts';
import { checked } from './requests.ts';
import type { IntakeServices } from './services.ts';
import { readServiceRequest } from './store.ts';

/** Errors: 400; 404 for a record that is missing in the company; 409 for a refused move, or an id that was used for something else. */
export function intakeHandlers(services: IntakeServices): Handlers<typeof IntakeServiceService> {
  const { database } = services;
  const recordBatched = batchedRecorder(database);
  return {
    recordServiceRequest: (request) => recordServiceRequest({ ...services, recordBatched }, request),
    changeServiceRequestStatus: (request) => changeStatus(services, request),
    bookServiceRequest: (request) => bookServiceRequest(services, request),
    async getServiceRequest(request) {
      const { company_id, id } = checked('GetServiceRequestRequest', request);
      const service_request = await readServiceRequest(database.of(company_id), company_id, id);
      if (service_request === undefined) throw ApiError.notFound('service request');
      return { service_request };
    },
    recordInteraction: (request) => recordInteraction(services, request),
    completeInteraction: (request) => completeInteraction(services, request),
    async getInteraction(request) {
      const { company_id, id } = checked('GetInteractionRequest', request);
      const interaction = await readInteraction(database.of(company_id), company_id, id);
      if (interaction === undefined) throw ApiError.notFound('interaction');
      return { interaction };
    },
  };
}
