import { resource } from '@truckroll/contract';
import type { FormResponse } from '@truckroll/contract/gen/scheduling/v1/form_responses';
import { defineTable } from '@truckroll/record-store';
import { afterFormResponses } from '../consequences.ts';

export const formResponses = defineTable<FormResponse>({
  resource: resource('form-responses'),
  table: 'form_responses',
  columns: {
    job_id: 'job_id',
    // The job's: src/forms/job-class.ts.
    job_class: { type: 'text', maintained: true },
    appointment_id: 'appointment_id',
    form_id: 'form_id',
    completed: 'completed',
  },
  afterChange: afterFormResponses,
});
