import type { ComponentChildren } from 'preact';
import { Problem } from '../api/problem.ts';
import { baseField } from './problem-box.tsx';

interface Given {
  /** The API's name of the field; also the input's id. */
  name: string;
  label: string;
  hint?: ComponentChildren;
  problem?: Problem | undefined;
  /** Renders the input with the attributes that link it to its label, hint and error. */
  children: (ties: Ties) => ComponentChildren;
}

export interface Ties {
  id: string;
  name: string;
  'aria-describedby'?: string;
  'aria-invalid'?: 'true';
}

export function messagesFor(problem: Problem | undefined, name: string): string[] {
  return (problem?.details ?? []).filter(({ field }) => field !== undefined && baseField(field) === name).map(({ message }) => message);
}

export function Field({ name, label, hint, problem, children }: Given) {
  const messages = messagesFor(problem, name);
  const described = [hint !== undefined && `${name}-hint`, messages.length > 0 && `${name}-error`].filter(Boolean).join(' ');
  const ties: Ties = {
    id: name,
    name,
    ...(described === '' ? {} : { 'aria-describedby': described }),
    ...(messages.length > 0 ? { 'aria-invalid': 'true' } : {}),
  };
  return (
    <div class="field">
      <label for={name}>{label}</label>
      {children(ties)}
      {messages.length > 0 && (
        <p class="error" id={`${name}-error`}>
          {[...new Set(messages)].join(' ')}
        </p>
      )}
      {hint !== undefined && (
        <p class="hint" id={`${name}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}

/** Throws Problem if a date or time is incomplete, for which the browser reports an empty value, or in a year that is not of our time. */
export function requireWholeMoments(form: HTMLFormElement): void {
  const half = [...form.querySelectorAll('input')].filter(
    ({ validity: { badInput, rangeOverflow, rangeUnderflow } }) => badInput || rangeOverflow || rangeUnderflow,
  );
  if (half.length === 0) return;
  const details = half.map(({ name }) => ({ field: name, code: 'INVALID_FORMAT', message: 'Give the whole date and time, or leave it empty.' }));
  throw new Problem('A date or time is not complete.', { code: 'INVALID_REQUEST', details });
}

/** The text of an input, without surrounding spaces. */
export function typed(form: FormData, name: string): string {
  const value = form.get(name);
  return typeof value === 'string' ? value.trim() : '';
}
