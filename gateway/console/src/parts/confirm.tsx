import type { ComponentChildren } from 'preact';
import { useAction } from '../state/action.ts';
import { Dialog } from './dialog.tsx';
import { ProblemBox } from './problem-box.tsx';

interface Given {
  title: string;
  children: ComponentChildren;
  /** The action: "Delete endpoint". */
  verb: string;
  danger?: boolean;
  onConfirm: () => Promise<void>;
  onClose: () => void;
}

/** Asks before an action that cannot be undone. */
export function Confirm({ title, children, verb, danger = false, onConfirm, onClose }: Given) {
  const action = useAction();
  return (
    <Dialog title={title} onCancel={onClose}>
      {children}
      <ProblemBox problem={action.problem} focus />
      <div class="buttons end">
        <button type="button" onClick={onClose} autofocus>
          Cancel
        </button>
        <button type="button" class={danger ? 'danger' : 'primary'} disabled={action.busy} onClick={() => void action.run(onConfirm)}>
          {verb}
        </button>
      </div>
    </Dialog>
  );
}
