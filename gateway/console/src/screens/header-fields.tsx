// Additional headers of an endpoint. Their values are written only: an empty value of a present name keeps it.
import { useState } from 'preact/hooks';
import type { EndpointFields } from '../api/integrations.ts';
import type { Problem } from '../api/problem.ts';
import { messagesFor } from '../parts/field.tsx';

const MOST = 10;

interface Row {
  readonly key: number;
  readonly name: string;
  readonly known: boolean;
}

interface Given {
  known: readonly { readonly name: string }[];
  problem: Problem | undefined;
}

export function HeaderFields({ known, problem }: Given) {
  const [rows, setRows] = useState<readonly Row[]>(() => known.map(({ name }, key) => ({ key, name, known: true })));
  const errors = [...new Set(messagesFor(problem, 'headers'))];
  const add = () => setRows([...rows, { key: Math.max(-1, ...rows.map(({ key }) => key)) + 1, name: '', known: false }]);
  return (
    <fieldset aria-describedby={errors.length > 0 ? 'headers-error' : 'headers-hint'}>
      <legend>Headers</legend>
      <p class="hint" id="headers-hint">
        Sent with every request, such as a key of your server. Values are stored encrypted and not shown again.
      </p>
      {errors.length > 0 && (
        <p class="error" id="headers-error">
          {errors.join(' ')}
        </p>
      )}
      {rows.map(({ key, name, known: isKnown }, index) => (
        <div key={key} class="header-row">
          <input
            type="text"
            name="headerName"
            aria-label={`Name of header ${index + 1}`}
            defaultValue={name}
            maxLength={100}
            autocomplete="off"
            spellcheck={false}
          />
          <input
            type="text"
            name="headerValue"
            aria-label={`Value of header ${index + 1}`}
            placeholder={isKnown ? 'unchanged' : ''}
            maxLength={4096}
            autocomplete="off"
            spellcheck={false}
          />
          <button type="button" aria-label={`Remove header ${index + 1}`} onClick={() => setRows(rows.filter((row) => row.key !== key))}>
            Remove
          </button>
        </div>
      ))}
      {rows.length < MOST && (
        <button type="button" onClick={add}>
          Add header
        </button>
      )}
    </fieldset>
  );
}

const textsOf = (form: FormData, name: string): string[] => form.getAll(name).filter((value) => typeof value === 'string');

/** The headers of a form; rows without a name and a value are left out. */
export function headersIn(form: FormData): NonNullable<EndpointFields['headers']> {
  const values = textsOf(form, 'headerValue');
  return textsOf(form, 'headerName')
    .map((name, index) => ({ name: name.trim(), value: values[index] ?? '' }))
    .filter(({ name, value }) => name !== '' || value !== '')
    .map(({ name, value }) => (value === '' ? { name } : { name, value }));
}
