import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { session } from '../state/session.ts';
import { useStore } from '../state/store.ts';

interface Given {
  title: string;
  children: ComponentChildren;
  /** Called when the dialog closes without an answer, such as by Escape. Without it Escape does nothing. */
  onCancel?: (() => void) | undefined;
}

/** A modal dialog while it is rendered: the browser keeps the focus inside and returns it afterwards. */
export function Dialog({ title, children, onCancel }: Given) {
  const element = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  const { signedIn } = useStore(session);
  // While the user has to sign in again, the dialog must not lie, invisible, over the sign-in form.
  useLayoutEffect(() => {
    const dialog = element.current;
    if (dialog === null || !signedIn) return;
    dialog.showModal();
    return () => dialog.close();
  }, [signedIn]);
  return (
    <dialog
      ref={element}
      aria-labelledby={titleId}
      onCancel={(event) => {
        event.preventDefault();
        onCancel?.();
      }}
      onKeyDown={(event) => {
        // Browsers close a dialog at the second Escape even if its cancel event was prevented.
        if (event.key === 'Escape' && onCancel === undefined) event.preventDefault();
      }}
    >
      <h2 id={titleId}>{title}</h2>
      {children}
    </dialog>
  );
}
