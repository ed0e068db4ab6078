// Adds to a demo company what cannot be imported: a failing endpoint and unbooked service requests.
import { IntakeServiceService } from '@truckroll/contract/gen/scheduling/v1/intake';
import { generateRequests } from '@truckroll/demo-company';
import { TOKEN_SECONDS } from '@truckroll/local-stack/demo-companies';
import { issueToken } from '@truckroll/local-stack/issue-token';
import { Failure } from '@truckroll/integrator-cli/terminal/failure';
import type { Session } from '../session.ts';
import type { DemoCompany } from './create.ts';

/** Where `truckroll listen` receives webhooks. Deliveries fail until it runs. */
const ENDPOINT = {
  name: 'Call center (run `npx truckroll listen` to repair it)',
  url: 'http://127.0.0.1:4567/',
  eventTypes: ['service_request.created', 'service_request.status_changed', 'service_request.booked', 'interaction.completed'],
};

export async function openDesk(session: Session, { options, companyId, userId }: DemoCompany): Promise<void> {
  const { token } = await issueToken(session.state, { subject: userId, companyId, lifetimeSeconds: TOKEN_SECONDS });
  const endpoints = `${session.baseUrl()}/api/v1/integrations/webhooks`;
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const answer = await fetch(endpoints, { method: 'POST', headers, body: JSON.stringify(ENDPOINT), signal: session.io.signal });
  if (answer.status !== 201) throw new Failure(`The demo company's endpoint was refused with status ${answer.status}: ${await answer.text()}`);
  const intake = session.client('scheduling', IntakeServiceService);
  for (const request of generateRequests(options)) await intake.recordServiceRequest({ company_id: companyId, ...request });
}
