import { resource, type JsonProblem } from '@truckroll/contract';
import type { FormResponse } from '@truckroll/contract/gen/scheduling/v1/form_responses';
import { defineTable } from '@truckroll/record-store';
import { refreshFormClasses } from '../forms/job-class.ts';
import { keeping } from './links.ts';

export const formResponses = defineTable<FormResponse>({
  resource: resource('form-responses'),
  table: 'form_responses',
  columns: {
    job_id: 'job_id',
    job_class: { type: 'text', maintained: keeping((tx, companyId, ids) => refreshFormClasses(tx, companyId, 'id', ids)) },
    appointment_id: 'appointment_id',
    form_id: 'form_id',
    completed: 'completed',
  },
  check: checkCapture,
});

/** Both are null if the capture is unsupported (decisions §12). */
function checkCapture({ completed, questions }: FormResponse): JsonProblem[] {
  if ((completed == null) === (questions == null)) return [];
  const [field, other] = completed == null ? ['completed', 'questions'] : ['questions', 'completed'];
  return [{ field, code: 'MISSING', message: `Give it, or make ${other} null too: both are null for an unsupported capture.` }];
}
