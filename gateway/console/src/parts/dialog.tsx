import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { session } from '../state/session.ts';
import { useStore } from '../state/store.ts';

interface Given {
  title: string;
  children: ComponentChildren;
  /** Escape, or whatever else closes it without an answer. Without it Escape does nothing. */
  onCancel?: (() => void) | undefined;
}

/** A modal dialog while it is rendered: the browser keeps the focus in it and gives it back afterwards. */
export function Dialog({ title, children, onCancel }: Given) {
  const element = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  const { signedIn } = useStore(session);
  // While the user has to sign in again it must not lie, unseen, over the form for that.
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
        // Browsers close a dialog at the second Escape whatever its cancel event was answered.
        if (event.key === 'Escape' && onCancel === undefined) event.preventDefault();
      }}
    >
      <h2 id={titleId}>{title}</h2>
      {children}
    </dialog>
  );
}
