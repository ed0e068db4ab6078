import { useState } from 'preact/hooks';
import { CopyButton } from './copy-button.tsx';

interface Given {
  what: string;
  text: string;
  truncated: boolean;
}

/** A body that came from elsewhere: always text, never markup. JSON is indented unless one wants it as it was. */
export function BodyText({ what, text, truncated }: Given) {
  const [raw, setRaw] = useState(false);
  const indented = indent(text);
  const shown = raw || indented === undefined ? text : indented;
  if (text === '') return <p class="soft">No body.</p>;
  return (
    <div class="body-text">
      <div class="buttons end">
        {indented !== undefined && <button type="button" class="small" aria-pressed={raw} onClick={() => setRaw(!raw)}>As it was</button>}
        <CopyButton text={text} what={what} />
      </div>
      <pre tabIndex={0} aria-label={what}>{shown}</pre>
      {truncated && <p class="hint">It went on; this is the beginning that is kept.</p>}
    </div>
  );
}

function indent(text: string): string | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return undefined;
  }
}
