import { registered } from '@truckroll/record-store';
import { afterAssignments, afterJobs, afterLifecycles, afterLocations, afterTimeEntries, afterVisits } from './consequences.ts';
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

export const tables = registered(
  'scheduling',
  {
    'team-members': teamMembers,
    accounts,
    contacts,
    locations,
    jobs,
    'job-appointments': jobAppointments,
    'job-assignments': jobAssignments,
    'business-units': businessUnits,
    'job-types': jobTypes,
    'job-classes': jobClasses,
    'job-lifecycles': jobLifecycles,
    'lead-sources': leadSources,
    tags,
    'job-leads': jobLeads,
    equipment,
    'form-responses': formResponses,
    'time-entries': timeEntries,
    timesheets,
  },
  {
    locations: afterLocations,
    'job-lifecycles': afterLifecycles,
    jobs: afterJobs,
    'job-appointments': afterVisits,
    'job-assignments': afterAssignments,
    'time-entries': afterTimeEntries,
  },
);
