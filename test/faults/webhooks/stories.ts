// Service requests as a company's own systems record them. Each step is retried until it is acknowledged.
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { ApiError, now } from '@truckroll/contract';
import { IntakeServiceService } from '@truckroll/contract/gen/scheduling/v1/intake';
import { InteractionChannel, InteractionDirection } from '@truckroll/contract/gen/scheduling/v1/interactions';
import { ServiceRequestChannel, ServiceRequestStatus } from '@truckroll/contract/gen/scheduling/v1/service_requests';
import type { Callers } from '@truckroll/grpc';
import * as line from '../../../services/scheduling/test/records.ts';
import { createCompany, importRecords, type TestCompany } from '../../support/company.ts';
import type { Running } from '../system/prepared.ts';

type Intake = Callers<typeof IntakeServiceService>;

export interface Customer {
  readonly company: TestCompany;
  readonly jobId: string;
  readonly visitId: string;
}

/** Events of one story: five of a service request (created, its changes and its booking) and one interaction. */
export const EVENTS_OF_REQUEST = 5;
export const EVENTS_OF_STORY = EVENTS_OF_REQUEST + 1;
const RETRY_MS = 100;
/** Longer than any process is down, in ms. */
const MAX_RETRY_MS = 180_000;

export async function makeCustomer(installation: Running, known?: TestCompany): Promise<Customer> {
  const company = known ?? (await createCompany(installation.channel('integrations'), 'America/Chicago'));
  const job = line.job();
  const visit = line.visit({ job_id: job['id'] });
  for (const [path, record] of [
    ['jobs', job],
    ['job-appointments', visit],
  ] as const) {
    const { problems } = await importRecords(installation.channel('scheduling'), company.id, path, [record]);
    if (problems.length > 0) throw new Error(JSON.stringify(problems[0]));
  }
  return { company, jobId: job['id'] as string, visitId: visit['id'] as string };
}

export interface StoryOptions {
  readonly goesOn: (begun: number) => boolean;
  readonly atOnce: number;
  readonly pause: () => Promise<void>;
  readonly finished: string[];
  readonly refused?: (error: ApiError) => void;
}

/** Records stories, equally many for each customer. */
export async function runStories(
  installation: Pick<Running, 'channel'>,
  customers: readonly Customer[],
  { goesOn, atOnce, pause, finished, refused }: StoryOptions,
): Promise<void> {
  const intake = installation.channel('scheduling').client(IntakeServiceService);
  let begun = 0;
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      while (goesOn(begun)) {
        const customer = customers[begun++ % customers.length]!;
        await pause();
        finished.push(await runStory(intake, customer, refused));
      }
    }),
  );
}

async function runStory(intake: Intake, { company, jobId, visitId }: Customer, refused: StoryOptions['refused']): Promise<string> {
  const retried = (step: () => Promise<unknown>): Promise<void> => retryUnavailable(step, refused);
  const of = { company_id: company.id, id: randomUUID() };
  await retried(() => intake.recordServiceRequest({ ...of, channel: ServiceRequestChannel.PHONE, summary: 'AC “not cooling”' }));
  const call = { company_id: company.id, id: randomUUID(), channel: InteractionChannel.CALL, direction: InteractionDirection.INBOUND };
  const started_at = now();
  await retried(() => intake.recordInteraction({ ...call, started_at, ended_at: started_at + 60_000_000, service_request_id: of.id }));
  await retried(() => intake.changeServiceRequestStatus({ ...of, status: ServiceRequestStatus.CONTACTED }));
  await retried(() => intake.bookServiceRequest({ ...of, job_id: jobId, appointment_id: visitId }));
  await retried(() => intake.changeServiceRequestStatus({ ...of, status: ServiceRequestStatus.CLOSED, closed_reason: 'Duplicate' }));
  return of.id;
}

async function retryUnavailable(step: () => Promise<unknown>, refused: StoryOptions['refused']): Promise<void> {
  for (const startedAt = performance.now(); ; ) {
    try {
      await step();
      return;
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 503 || performance.now() - startedAt > MAX_RETRY_MS) throw error;
      refused?.(error);
      await delay(RETRY_MS);
    }
  }
}
