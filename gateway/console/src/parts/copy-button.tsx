import { useState } from 'preact/hooks';

/** Copies a text and says whether it worked: browsers refuse to copy on pages from a remote plain-HTTP address. */
export function CopyButton({ text, what }: { text: string; what: string }) {
  const [outcome, setOutcome] = useState('');
  async function copy(): Promise<void> {
    try {
      await navigator.clipboard.writeText(text);
      setOutcome('Copied');
    } catch {
      setOutcome('Not allowed here: select it and copy it by hand');
    }
    setTimeout(() => setOutcome(''), 4000);
  }
  return (
    <span class="copy">
      <button type="button" class="small" aria-label={`Copy ${what}`} onClick={() => void copy()}>
        Copy
      </button>
      <span role="status">{outcome}</span>
    </span>
  );
}
