import { useState } from 'preact/hooks';
import type { Problem } from '../api/problem.ts';

interface Given {
  known: readonly string[];
  problem: Problem | undefined;
}

/** Addresses that get e-mails about an endpoint, one per line. Each error names the address that it is about. */
export function AlertEmails({ known, problem }: Given) {
  const [text, setText] = useState(known.join('\n'));
  const addresses = addressesIn(text);
  const errors = (problem?.details ?? []).flatMap(({ field, message }) => {
    const index = /^alertEmails(?:\[(\d+)\])?$/.exec(field ?? '');
    const address = addresses[Number(index?.[1] ?? NaN)];
    return index === null ? [] : [address === undefined ? message : `${address}: ${message}`];
  });
  return (
    <div class="field">
      <label for="alertEmails">Alerts by e-mail</label>
      <textarea
        id="alertEmails"
        name="alertEmails"
        rows={2}
        value={text}
        autocomplete="off"
        spellcheck={false}
        aria-describedby={errors.length > 0 ? 'alertEmails-hint alertEmails-error' : 'alertEmails-hint'}
        aria-invalid={errors.length > 0 ? 'true' : undefined}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      {errors.length > 0 && (
        <p class="error" id="alertEmails-error">
          {[...new Set(errors)].join(' ')}
        </p>
      )}
      <p class="hint" id="alertEmails-hint">
        Addresses of up to five users of the company, one per line. They get an e-mail after an hour of failures, when Truckroll disables the endpoint, and when
        deliveries succeed again. Without an address nothing is sent.
      </p>
    </div>
  );
}

export const addressesIn = (text: string): string[] => text.split(/[\s,;]+/).filter((address) => address !== '');
