import { useRef, useState } from 'preact/hooks';
import { recover } from '../api/integrations.ts';
import { Problem } from '../api/problem.ts';
import type { EndpointState, Recovery } from '../api/types.ts';
import { STATE_NAMES } from '../parts/badge.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Field, requireWholeMoments, typed } from '../parts/field.tsx';
import { deliveries, number } from '../parts/figures.ts';
import { ProblemBox } from '../parts/problem-box.tsx';
import { instantOf, localInput, zone } from '../parts/time.tsx';
import { useAction } from '../state/action.ts';
import { tell } from '../state/notice.ts';

const DAY_MS = 86_400_000;

interface Given {
  id: string;
  state: EndpointState;
  onClose: () => void;
}

/** Queues skipped and failed events again. Each request queues a part, and requests repeat until nothing remains. */
export function Recover({ id, state, onClose }: Given) {
  const action = useAction();
  const [progress, setProgress] = useState<Recovery | undefined>(undefined);
  const stopped = useRef(false);
  const [first] = useState(() => localInput(new Date(Date.now() - DAY_MS)));

  function submit(event: SubmitEvent): void {
    event.preventDefault();
    const element = event.currentTarget as HTMLFormElement;
    const form = new FormData(element);
    void action.run(async () => {
      requireWholeMoments(element);
      const since = instant(form, 'since');
      if (since === undefined)
        throw new Problem('Say since when.', { code: 'MISSING', details: [{ field: 'since', code: 'MISSING', message: 'Give a day and a time.' }] });
      // A fixed end, so that the next round does not queue what has failed since.
      const until = instant(form, 'until') ?? new Date().toISOString();
      stopped.current = false;
      let total = 0;
      for (let more = true; more && !stopped.current; ) {
        const { queued, remaining } = await recover(id, { since, until });
        total += queued;
        setProgress({ queued: total, remaining });
        more = remaining > 0 && queued > 0;
      }
    });
  }

  function close(): void {
    stopped.current = true;
    if (progress !== undefined && progress.queued > 0)
      tell(`${deliveries(progress.queued)} queued again${progress.remaining > 0 ? `, ${number(progress.remaining)} remain` : ''}.`);
    onClose();
  }

  const done = progress !== undefined && !action.busy && action.problem === undefined;
  return (
    <Dialog title="Recover deliveries" onCancel={close}>
      <form onSubmit={submit} noValidate>
        <p>Queues again, oldest first, the events that were skipped or given up in a time. They are kept for 30 days.</p>
        {state !== 'ENABLED' && <p class="warning">The endpoint is {STATE_NAMES[state].toLowerCase()}: what is queued is sent once it is enabled.</p>}
        <ProblemBox problem={action.problem} shownElsewhere={['since', 'until']} focus />
        {!done && (
          <>
            <Field name="since" label="Since" hint={`In the company’s time zone, ${zone()}.`} problem={action.problem}>
              {(ties) => <input {...ties} type="datetime-local" defaultValue={first} required />}
            </Field>
            <Field name="until" label="Until" hint="Leave it empty for all until now." problem={action.problem}>
              {(ties) => <input {...ties} type="datetime-local" />}
            </Field>
          </>
        )}
        <div role="status">
          {progress !== undefined && (
            <>
              {progress.queued > 0 && <progress value={progress.queued} max={Math.max(1, progress.queued + progress.remaining)} aria-label="Queued again" />}
              <p>
                {done && progress.queued === 0
                  ? 'Nothing was skipped or given up in that time.'
                  : `${deliveries(progress.queued)} queued again, ${number(progress.remaining)} remain.`}
              </p>
            </>
          )}
        </div>
        <div class="buttons end">
          <button type="button" class={done ? 'primary' : undefined} onClick={close}>
            {done ? 'Done' : action.busy ? 'Stop' : 'Cancel'}
          </button>
          {!done && (
            <button type="submit" class="primary" disabled={action.busy}>
              {action.busy ? 'Recovering…' : 'Recover'}
            </button>
          )}
        </div>
      </form>
    </Dialog>
  );
}

function instant(form: FormData, name: string): string | undefined {
  const text = typed(form, name);
  return text === '' ? undefined : instantOf(text);
}
