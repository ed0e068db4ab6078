import { useRef, useState } from 'preact/hooks';
import { recover } from '../api/integrations.ts';
import { Problem } from '../api/problem.ts';
import type { Endpoint, Include, Recovery } from '../api/types.ts';
import { STATE_NAMES } from '../parts/badge.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Field, requireWholeMoments, typed } from '../parts/field.tsx';
import { deliveries, number } from '../parts/figures.ts';
import { REVERSED, isReversed } from '../parts/moment-input.tsx';
import { ProblemBox } from '../parts/problem-box.tsx';
import { MOMENT, Time, instantOf, localInput, zone } from '../parts/time.tsx';
import { useAction } from '../state/action.ts';
import { announce } from '../state/notice.ts';
import { planOf, type Counted, type Plan, type Range } from './recovery-plan.ts';

const DAY_MS = 86_400_000;

interface Given {
  endpoint: Endpoint;
  onClose: () => void;
}

/** Queues events of a period again, after a confirmation. Each request queues a part, and requests repeat while they queue more. */
export function Recover({ endpoint, onClose }: Given) {
  const { id, state } = endpoint;
  const action = useAction();
  const [plan, setPlan] = useState<Plan | undefined>(undefined);
  const [progress, setProgress] = useState<Recovery | undefined>(undefined);
  const [include, setInclude] = useState<Include>('MISSED');
  const [first] = useState(() => localInput(new Date(Date.now() - DAY_MS)));
  const [times, setTimes] = useState({ since: first, until: '' });
  const stopped = useRef(false);

  function review(event: SubmitEvent): void {
    event.preventDefault();
    const element = event.currentTarget as HTMLFormElement;
    void action.run(async () => {
      const range = rangeOf(element);
      setTimes({ since: typed(new FormData(element), 'since'), until: typed(new FormData(element), 'until') });
      setPlan(await planOf(endpoint, include, range));
    });
  }

  const start = ({ since, until }: Plan) =>
    action.run(async () => {
      let total = 0;
      for (let more = true; more && !stopped.current; ) {
        const { queued, remaining } = await recover(id, { since, until, include });
        total += queued;
        setProgress({ queued: total, remaining });
        more = remaining > 0 && queued > 0;
      }
    });

  function close(): void {
    stopped.current = true;
    if (progress !== undefined && progress.queued > 0)
      announce(`${deliveries(progress.queued)} queued again${progress.remaining > 0 ? `, ${number(progress.remaining)} remain` : ''}.`);
    onClose();
  }

  if (plan === undefined)
    return (
      <Dialog title="Recover deliveries" onCancel={close}>
        <form onSubmit={review} noValidate>
          <p>Queues events of a period again, oldest first. They are kept for 30 days.</p>
          {state !== 'ENABLED' && <p class="warning">The endpoint is {STATE_NAMES[state].toLowerCase()}: what is queued is sent once it is enabled.</p>}
          <ProblemBox problem={action.problem} shownElsewhere={['since', 'until']} focus />
          <fieldset>
            <legend>Which events</legend>
            <Choice value="MISSED" chosen={include} onChoose={setInclude} title="What it missed">
              Skipped and failed deliveries, and events that its filter or its event types of that time kept out.
            </Choice>
            <Choice value="ALL" chosen={include} onChoose={setInclude} title="All events">
              Delivered ones too, with the webhook-id that they had.
            </Choice>
          </fieldset>
          <Field name="since" label="Since" hint={`In the company’s time zone, ${zone()}.`} problem={action.problem}>
            {(ties) => <input {...ties} {...MOMENT} defaultValue={times.since} required />}
          </Field>
          <Field name="until" label="Until" hint="Leave it empty for all until now." problem={action.problem}>
            {(ties) => <input {...ties} {...MOMENT} defaultValue={times.until} />}
          </Field>
          <div class="buttons end">
            <button type="button" onClick={close}>
              Cancel
            </button>
            <button type="submit" class="primary" disabled={action.busy}>
              {action.busy ? 'Counting…' : 'Continue'}
            </button>
          </div>
        </form>
      </Dialog>
    );

  const done = progress !== undefined && !action.busy && action.problem === undefined;
  return (
    <Dialog title={plan.include === 'ALL' ? 'Send all events again?' : 'Send what it missed?'} onCancel={close}>
      {progress === undefined && <Consequences plan={plan} endpoint={endpoint} />}
      <ProblemBox problem={action.problem} focus />
      <div role="status">{progress !== undefined && <Progress progress={progress} done={done} />}</div>
      <div class="buttons end">
        {progress === undefined && !action.busy && (
          <button type="button" onClick={() => setPlan(undefined)}>
            Back
          </button>
        )}
        <button type="button" class={done ? 'primary' : undefined} onClick={close}>
          {done ? 'Done' : action.busy ? 'Stop' : 'Cancel'}
        </button>
        {!done && (
          <button type="button" class="primary" disabled={action.busy} onClick={() => void start(plan)}>
            {action.busy ? 'Recovering…' : 'Recover'}
          </button>
        )}
      </div>
    </Dialog>
  );
}

interface ChoiceGiven {
  value: Include;
  chosen: Include;
  onChoose: (value: Include) => void;
  title: string;
  children: string;
}

function Choice({ value, chosen, onChoose, title, children }: ChoiceGiven) {
  return (
    <label class="choice">
      <input type="radio" name="include" value={value} checked={value === chosen} onChange={() => onChoose(value)} />
      <span>
        {title}
        <span class="hint">{children}</span>
      </span>
    </label>
  );
}

/** What is sent and what is not, with numbers where they are known. */
function Consequences({ plan, endpoint }: { plan: Plan; endpoint: Endpoint }) {
  const filtered = endpoint.filter !== null;
  return (
    <>
      <p>
        Of the time from <Time at={plan.since} /> to <Time at={plan.until} />:
      </p>
      {plan.include === 'MISSED' ? (
        <ul>
          <li>
            Sent: <strong>{counted(plan.skipped)} skipped</strong> and <strong>{counted(plan.failed)} failed</strong> deliveries
            {filtered && ', as far as its filter lets them through'}, and events that became no delivery because its filter or its event types were others.
          </li>
          <li>Not sent: what was delivered, what is pending, and tests.</li>
        </ul>
      ) : (
        <ul>
          <li>
            Sent: <strong>{counted(plan.events)} events</strong> of its event types{filtered && ' that its filter lets through'}, including those that were
            delivered. The receiver gets these twice.
          </li>
          <li>Not sent: what is pending anyway, and tests{filtered && ', and what its filter keeps out'}.</li>
        </ul>
      )}
    </>
  );
}

const counted = ({ count, more }: Counted): string => (more ? `${number(count)} or more` : number(count));

function Progress({ progress: { queued, remaining }, done }: { progress: Recovery; done: boolean }) {
  if (done && queued === 0 && remaining === 0) return <p>Nothing of that time had to be sent again.</p>;
  return (
    <>
      {queued > 0 && <progress value={queued} max={Math.max(1, queued + remaining)} aria-label="Queued again" />}
      <p>
        {deliveries(queued)} queued again, {number(remaining)} remain.
        {done && remaining > 0 && ' They are queued without this page.'}
      </p>
    </>
  );
}

/** The period of the form. It has an end, so that a repeated request does not queue what has failed since. */
function rangeOf(element: HTMLFormElement): Range {
  requireWholeMoments(element);
  const form = new FormData(element);
  const since = instantOf(typed(form, 'since'));
  const until = instantOf(typed(form, 'until')) || new Date().toISOString();
  const refuse = (field: string, message: string): never => {
    throw new Problem('The period cannot be read.', { code: 'INVALID_REQUEST', details: [{ field, code: 'INVALID_REQUEST', message }] });
  };
  if (since === '') refuse('since', 'Give a day and a time.');
  if (isReversed(since, until)) {
    if (typed(form, 'until') === '') refuse('since', 'Give a time before now.');
    refuse('until', REVERSED);
  }
  return { since, until };
}
