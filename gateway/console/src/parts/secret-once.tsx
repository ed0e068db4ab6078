import type { ComponentChildren } from 'preact';
import { CopyButton } from './copy-button.tsx';
import { Dialog } from './dialog.tsx';

interface Given {
  title: string;
  /** "signing secret" */
  what: string;
  value: string;
  children: ComponentChildren;
  onDone: () => void;
}

/** A secret that the API shows only once. Escape does not close it, because the secret would be lost. */
export function SecretOnce({ title, what, value, children, onDone }: Given) {
  return (
    <Dialog title={title}>
      <p class="warning">
        <strong>Copy this {what} now.</strong> It is not stored in a way that could be shown again.
      </p>
      <div class="secret">
        <code tabIndex={0} aria-label={what}>
          {value}
        </code>
        <CopyButton text={value} what={what} />
      </div>
      {children}
      <div class="buttons end">
        <button type="button" class="primary" onClick={onDone}>
          I have stored it
        </button>
      </div>
    </Dialog>
  );
}
