import { useMemo, useState } from 'preact/hooks';
import { CopyButton } from './copy-button.tsx';
import { readJson } from './json.ts';
import { JsonTree } from './json-tree.tsx';

interface Given {
  what: string;
  text: string;
  truncated?: boolean;
}

/** A body that came from elsewhere: always text, never markup. JSON is coloured and folds unless one wants it as it was. */
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
                {unfolded === false ? 'Unfold' : 'Fold'}
              </button>
            )}
            <button type="button" class="small" aria-pressed={raw} onClick={() => setRaw(!raw)}>
              As it was
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
        // Anew when all are to change: those that were opened by hand are otherwise left as they are.
        <JsonTree key={String(unfolded)} what={what} value={json} unfolded={unfolded} />
      )}
      {truncated && <p class="hint">It went on; this is the beginning that is kept.</p>}
    </div>
  );
}
