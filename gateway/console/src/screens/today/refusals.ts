// Refusals of the API in the words of the dialog, whose user knows its labels and not the API's fields.
import { Problem } from '../../api/problem.ts';

const SENTENCES: Readonly<Record<string, string>> = {
  STALE_REVISION: 'The visit was changed in the meantime. Look at it below, then press the button again.',
  OUTSIDE_ARRIVAL_WINDOW: 'The times are outside the arrival window. Change them, or choose “Work outside the window”.',
  RANGE_ORDER: '“To” must be later than “From”.',
  NOT_FOUND: 'The visit or the technician is no longer there, or the technician may no longer be assigned.',
  IDEMPOTENCY_IN_PROGRESS: 'The change is being made at this moment. Try again in a second.',
  IDEMPOTENCY_KEY_REUSED: 'This change was tried before with other times. Close this, look at the visit, and begin again.',
};

const LABELS: readonly (readonly [field: RegExp, label: string])[] = [
  [/\bstarts_at\b/g, '“From”'],
  [/\bends_at\b/g, '“To”'],
  [/\bteam_member_id\b/g, '“Technician”'],
  [/\bcustomer_notification(\.message)?\b/g, '“Message”'],
];
const inLabels = (text: string): string => LABELS.reduce((said, [field, label]) => said.replace(field, label), text);

/** The same problem without names of the API's fields. */
export function inWords({ message, details, code, status, requestId, retryAfterSeconds }: Problem): Problem {
  const said = details.map(({ code: of, message: own, field = '' }) => SENTENCES[of] ?? (of === code ? own : `${inLabels(field)}: ${inLabels(own)}`));
  return new Problem(said.length > 0 ? [...new Set(said)].join(' ') : (SENTENCES[code] ?? message), {
    code,
    status,
    ...(requestId !== undefined && { requestId }),
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  });
}
