import { useLayoutEffect, useRef } from 'preact/hooks';
import type { Problem } from '../api/problem.ts';

interface Given {
  problem: Problem | undefined;
  /** "The endpoint was not created." */
  title?: string;
  /** Fields whose messages are shown next to their inputs. */
  shownElsewhere?: readonly string[];
  /** Whether it results from a user's action and so takes the focus. */
  focus?: boolean;
}

/** The API's error: its message, the fields, and the request id by which the operator can find it. */
export function ProblemBox({ problem, title, shownElsewhere = [], focus = false }: Given) {
  const box = useRef<HTMLDivElement>(null);
  // Before the user sees it: a later focus would take away what is typed meanwhile.
  useLayoutEffect(() => {
    if (focus && problem !== undefined) box.current?.focus();
  }, [problem]);
  if (problem === undefined) return null;
  const details = problem.details.filter(({ field }) => field === undefined || !shownElsewhere.includes(baseField(field)));
  const allMarked = problem.details.length > 0 && details.length === 0;
  return (
    <div class="problem" role="alert" tabIndex={-1} ref={box}>
      {title && <strong>{title}</strong>}
      <p>{allMarked ? 'Correct what is marked below.' : problem.message}</p>
      {details.length > 0 && (
        <ul>
          {details.map(({ field, message }) => (
            <li key={`${field} ${message}`}>
              {field !== undefined && <code>{field}</code>} {message}
            </li>
          ))}
        </ul>
      )}
      {problem.requestId !== undefined && (
        <p class="request-id">
          Request <code>{problem.requestId}</code>
        </p>
      )}
    </div>
  );
}

/** The input of a field: `eventTypes` for `eventTypes[0]`. */
export const baseField = (field: string): string => field.replace(/[[.].*$/, '');
