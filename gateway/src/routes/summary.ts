// The summary of what needs attention in a company, which the gateway composes from two services (decisions §16).
import { ApiError, type Operation } from '@truckroll/contract';
import { EndpointCountServiceService } from '@truckroll/contract/gen/integrations/v1/summary';
import { ServiceRequestCountServiceService } from '@truckroll/contract/gen/scheduling/v1/service_request_counts';
import { Baseline } from '../admission/limiter.ts';
import { JSON_TYPE, send } from '../http/answer.ts';
import { inputsOf } from './inputs.ts';
import type { CompiledOperation, OperationContext } from './operation.ts';
import { compileQuery } from './query.ts';
import { refuseFields } from './request.ts';

/** The handler of the summary; undefined for other operations. */
export function compileSummary(operation: Operation, { services, draining }: OperationContext): CompiledOperation | undefined {
  if (operation.name !== 'GetSummary') return undefined;
  const parse = compileQuery(inputsOf(operation));
  const endpoints = services.channels.integrations.client(EndpointCountServiceService);
  const serviceRequests = services.channels.scheduling.client(ServiceRequestCountServiceService);
  return {
    operation,
    limitClass: 'reads',
    baseline: new Baseline(),
    headers: [],
    checkAccess: () => undefined,
    async handle(exchange, _, bytes) {
      const { problems } = parse(exchange.query);
      refuseFields(bytes, problems);
      if (problems.length > 0) throw ApiError.invalid(problems);
      const { company_id } = exchange.principal as NonNullable<typeof exchange.principal>;
      const [{ unbooked }, { failing, paused }] = await Promise.all([
        serviceRequests.countServiceRequests({ company_id }),
        endpoints.countEndpoints({ company_id }),
      ]);
      const data = { unbookedServiceRequests: unbooked, failingEndpoints: failing, pausedEndpoints: paused };
      send(exchange, operation.status, JSON.stringify({ data }), JSON_TYPE, [], draining);
    },
  };
}
