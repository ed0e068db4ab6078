import type { ComponentChildren } from 'preact';
import { useId, useRef, useState } from 'preact/hooks';

interface Given {
  label: string;
  /** What is chosen, in words. */
  text: string;
  /** What is wrong with it. */
  wrong?: string | undefined;
  children: (close: () => void) => ComponentChildren;
}

/** A button that opens a panel. Escape and a click elsewhere close it, and the browser gives the focus back to the button. */
export function Popover({ label, text, wrong, children }: Given) {
  const id = useId();
  const panel = useRef<HTMLDivElement>(null);
  const [open, setOpen] = useState(false);
  return (
    <>
      <button type="button" class="opens" popovertarget={id} aria-label={`${label}: ${text}`} aria-describedby={wrong && `${id}-wrong`}>
        {text}
      </button>
      {wrong && (
        <p class="error" id={`${id}-wrong`} role="alert">
          {wrong}
        </p>
      )}
      <div ref={panel} id={id} popover="auto" role="group" aria-label={label} onBeforeToggle={({ newState }) => setOpen(newState === 'open')}>
        {open && children(() => panel.current?.hidePopover())}
      </div>
    </>
  );
}
