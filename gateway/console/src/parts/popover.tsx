import type { ComponentChildren } from 'preact';
import { useId, useRef, useState } from 'preact/hooks';

interface Given {
  label: string;
  /** What is chosen, in words. */
  text: string;
  children: (close: () => void) => ComponentChildren;
}

/** A button that opens a panel. Escape and a click elsewhere close it, and the browser gives the focus back to the button. */
export function Popover({ label, text, children }: Given) {
  const id = useId();
  const panel = useRef<HTMLDivElement>(null);
  const [open, setOpen] = useState(false);
  return (
    <>
      <button type="button" class="opens" popovertarget={id} aria-label={`${label}: ${text}`}>
        {text}
      </button>
      <div ref={panel} id={id} popover="auto" role="group" aria-label={label} onBeforeToggle={({ newState }) => setOpen(newState === 'open')}>
        {open && children(() => panel.current?.hidePopover())}
      </div>
    </>
  );
}
