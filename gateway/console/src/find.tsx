import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { announce } from './state/notice.ts';

const MAC = /Mac|iPhone|iPad/.test(navigator.userAgent);

/** The button and the keys that open the search, whose file is loaded at the latest then. */
export function Find() {
  const [open, setOpen] = useState(false);
  const [Finder, setFinder] = useState<ComponentType<{ onClose: () => void }> | undefined>(undefined);

  function find(): void {
    // A question, or a secret that is shown once, has to be answered first.
    if (document.querySelector('dialog[open]') !== null) return;
    setOpen(true);
    import('./screens/business.ts').then(
      (module) => setFinder(() => module.Finder),
      () => announce('The search could not be loaded. Check the connection and reload the page.'),
    );
  }

  useEffect(() => {
    const pressed = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() !== 'k' || !(event.metaKey || event.ctrlKey) || event.altKey || event.shiftKey) return;
      event.preventDefault();
      find();
    };
    addEventListener('keydown', pressed);
    return () => removeEventListener('keydown', pressed);
  }, []);

  return (
    <>
      <button type="button" class="small find" aria-keyshortcuts="Control+K Meta+K" aria-haspopup="dialog" onClick={find}>
        <svg class="icon" viewBox="0 0 20 20" aria-hidden="true">
          <path d="M9 15A6 6 0 1 0 9 3a6 6 0 0 0 0 12zM13.5 13.5 17 17" />
        </svg>
        <span class="text">Search</span> <kbd aria-hidden="true">{MAC ? '⌘K' : 'Ctrl K'}</kbd>
      </button>
      {open && Finder !== undefined && <Finder onClose={() => setOpen(false)} />}
    </>
  );
}
