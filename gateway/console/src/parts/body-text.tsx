import { useMemo, useState } from 'preact/hooks';
import { CopyButton } from './copy-button.tsx';
import { readJson } from './json.ts';
import { JsonTree } from './json-tree.tsx';

interface Given {
  what: string;
  text: string;
  truncated?: boolean;
}

/** A body from outside: always text, never markup. JSON is coloured and can be folded, unless the user wants the original text. */
export function BodyText({ what, text, truncated = false }: Given) {
  const [raw, setRaw] = useState(false);
  const [unfolded, setUnfolded] = useState<boolean | undefined>(undefined);
  const json = useMemo(() => readJson(text), [text]);
  if (text === '') return <p class="soft">No body.</p>;
  return (
    <div class="body-text">
      <div class="buttons end">
        {json !== undefined && (
          <>
            {!raw && (
              <button type="button" class="small" onClick={() => setUnfolded(unfolded === false)}>
                {unfolded === false ? 'Expand' : 'Collapse'}
              </button>
            )}
            <button type="button" class="small" aria-pressed={raw} onClick={() => setRaw(!raw)}>
              Raw
            </button>
          </>
        )}
        <CopyButton text={text} what={what} />
      </div>
      {json === undefined || raw ? (
        <pre tabIndex={0} aria-label={what}>
          {text}
        </pre>
      ) : (
        // The key renders the tree anew when all nodes fold or unfold. Otherwise nodes that the user opened stay open.
        <JsonTree key={String(unfolded)} what={what} value={json} unfolded={unfolded} />
      )}
      {truncated && <p class="hint">It went on; this is the beginning that is kept.</p>}
    </div>
  );
}
