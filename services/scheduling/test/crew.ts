import { randomUUID } from 'node:crypto';
import { AssignmentCommandServiceService } from '@truckroll/contract/gen/scheduling/v1/assignment_commands';
import type { Visit } from '@truckroll/contract/gen/scheduling/v1/job_appointments';
import type { Harness, Json } from './harness.ts';
import * as line from './records.ts';

export type Crew = Awaited<ReturnType<typeof crewOf>>;

export async function crewOf({ channel, company: newCompany }: Harness) {
  const company = newCompany();
  const commands = channel.client(AssignmentCommandServiceService);
  const members = [line.teamMember(), line.teamMember()];
  const memberIds = members.map(({ id }) => id as string) as [string, string];
  const caller = { company_id: company.id, time_zone: 'America/Chicago', user_id: randomUUID() };
  await company.store('team-members', ...members);

  const addition = (visit: Visit, memberId = memberIds[0], key: string = randomUUID()) => ({
    caller,
    idempotency_key: key,
    expected_revision: visit.revision,
    appointment_id: visit.id,
    team_member_id: memberId,
    starts_at: visit.window_start_at,
    ends_at: visit.window_end_at,
    allow_outside_window: false,
    customer_notification: null,
  });

  return {
    company,
    memberIds,
    addition,
    userId: caller.user_id,

    async job(): Promise<Json> {
      const job = line.job();
      await company.store('jobs', job);
      return job;
    },

    async visit(jobId: string = randomUUID(), id: string = randomUUID()): Promise<Visit> {
      await company.store('job-appointments', line.visit({ id, job_id: jobId }));
      return company.detail('job-appointments', id);
    },

    async add(...asked: Parameters<typeof addition>): Promise<Visit> {
      const { data } = await commands.addAssignment(addition(...asked));
      return data as Visit;
    },

    async remove(visit: Visit, index = 0, key: string = randomUUID()): Promise<Visit> {
      const { id } = visit.assignments[index]!;
      const { data } = await commands.removeAssignment({
        caller,
        idempotency_key: key,
        id,
        expected_revision: visit.revision,
        customer_notification: null,
      });
      return data as Visit;
    },
  };
}

export function twoIds(): [string, string] {
  return [randomUUID(), randomUUID()].toSorted() as [string, string];
}
