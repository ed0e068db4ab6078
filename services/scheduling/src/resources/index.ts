import type { AfterChange, Table } from '@truckroll/record-store';
import {
  afterAccounts,
  afterAssignments,
  afterFormResponses,
  afterJobs,
  afterLifecycles,
  afterLocations,
  afterTimeEntries,
  afterVisits,
} from '../consequences.ts';
import { named } from '../events.ts';
import { accounts } from './accounts.ts';
import { businessUnits } from './business-units.ts';
import { contacts } from './contacts.ts';
import { equipment } from './equipment.ts';
import { formResponses } from './form-responses.ts';
import { jobAppointments } from './job-appointments.ts';
import { jobAssignments } from './job-assignments.ts';
import { jobClasses } from './job-classes.ts';
import { jobLeads } from './job-leads.ts';
import { jobLifecycles } from './job-lifecycles.ts';
import { jobTypes } from './job-types.ts';
import { jobs } from './jobs.ts';
import { leadSources } from './lead-sources.ts';
import { locations } from './locations.ts';
import { tags } from './tags.ts';
import { teamMembers } from './team-members.ts';
import { timeEntries } from './time-entries.ts';
import { timesheets } from './timesheets.ts';

/** A table with what follows from its changes, in that order. Records are only ever written through these. */
function changing<R>(table: Table<R>, ...steps: AfterChange<R>[]): Table<R> {
  const afterChange: AfterChange<R> = async (tx, companyId, changed) => {
    for (const step of steps) await step(tx, companyId, changed);
  };
  return { ...table, afterChange };
}

function naming<R extends { name: string }>(table: Table<R>, ...steps: AfterChange<R>[]): Table<R> {
  return changing(table, named(table.resource.path), ...steps);
}

export const visits = changing(jobAppointments, afterVisits);
export const assignments = changing(jobAssignments, afterAssignments);

/** Every record that scheduling owns. */
export const tables = [
  naming(teamMembers),
  naming(accounts, afterAccounts),
  naming(contacts),
  naming(locations, afterLocations),
  changing(jobs, afterJobs),
  visits,
  assignments,
  naming(businessUnits),
  naming(jobTypes),
  jobClasses,
  naming(jobLifecycles, afterLifecycles),
  naming(leadSources),
  naming(tags),
  jobLeads,
  equipment,
  changing(formResponses, afterFormResponses),
  changing(timeEntries, afterTimeEntries),
  timesheets,
] as readonly Table<any>[] as readonly Table[];
