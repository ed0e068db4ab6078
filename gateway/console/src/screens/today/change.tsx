// The dialog that adds a technician to a visit, or removes one, by the API's two writes.
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Visit } from '../../api/business.ts';
import { Problem } from '../../api/problem.ts';
import { readRecord } from '../../api/reports.ts';
import {
  addTechnician,
  readVisitsOf,
  removeTechnician,
  type Addition,
  type Assignment,
  type Removal,
  type Requested,
  type Technician,
  type Written,
} from '../../api/schedule.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Field, requireWholeMoments } from '../../parts/field.tsx';
import { ProblemBox } from '../../parts/problem-box.tsx';
import { MOMENT, dayOf, instantOf, localInput, timeBeside, timeOfDay } from '../../parts/time.tsx';
import { titleCase } from '../../parts/words.ts';
import { useAction } from '../../state/action.ts';
import { addDays } from '../reports/calendar.ts';
import { changesOf, isOutside, isRemovable, overlaps, withinArrival } from './layout.ts';
import { inWords } from './refusals.ts';

export interface Change {
  readonly visit: Visit;
  /** Whether a technician is added; otherwise `off` is removed. */
  readonly adding: boolean;
  /** The technician to add, if one is chosen already. */
  readonly technician?: string | undefined;
  /** The assignment to remove: when adding, only if the user wants that. */
  readonly off?: Assignment | undefined;
  /** Whether a technician is added by dragging the bar of `off`, which proposes its times and to remove it. */
  readonly dragged?: boolean;
}

interface Given {
  change: Change;
  technicians: readonly Technician[];
  /** Called with what was done, in sentences, and the message to the customer. */
  onDone: (what: string, message: Requested | undefined) => void;
  onClose: () => void;
}

/** Statuses of refusals that come after the API has looked for the key, so that no earlier attempt was made either. */
const SETTLED: readonly number[] = [400, 404, 409];

/** Longest time in ms that is spent on finding other work of the technician before a change. */
const WORK_MS = 5000;

/** Whether the API may have made the change although it did not say so. */
const isUnknown = ({ status, code }: Problem): boolean => status === 0 || status >= 500 || code === 'IDEMPOTENCY_IN_PROGRESS';

/** A write of this dialog. All attempts have the same key, so that the API makes the change once. It keeps no refusals, so another body may follow one. */
class Write<B> {
  readonly #key = Array.from(crypto.getRandomValues(new Uint32Array(4)), (each) => each.toString(16).padStart(8, '0')).join('');
  /** The body of an attempt whose outcome is not known. The next attempt sends it again. */
  #sent: B | undefined;
  /** Whether an attempt's outcome is not known. */
  open = false;
  done: Written | undefined;

  async send(body: B, request: (body: B, key: string) => Promise<Written>): Promise<Written> {
    if (this.done !== undefined) return this.done;
    if (!this.open) this.#sent = body;
    try {
      this.done = await request(this.#sent as B, this.#key);
      this.open = false;
      return this.done;
    } catch (error) {
      const problem = Problem.of(error);
      this.open = isUnknown(problem) || (this.open && !SETTLED.includes(problem.status));
      throw error;
    }
  }
}

export function ChangeDialog({ change: { visit: shown, adding, technician, off: given, dragged = false }, technicians, onDone, onClose }: Given) {
  // A technician who has begun stays on the visit.
  const off = given !== undefined && isRemovable(given) ? given : undefined;
  const taken = dragged ? given : undefined;
  const action = useAction();
  const writes = useRef({ add: new Write<Addition>(), remove: new Write<Removal>() }).current;
  const latest = useRef(shown);
  const visit = latest.current;
  const [times, setTimes] = useState<Pick<Visit, 'starts_at' | 'ends_at'>>(() => taken ?? withinArrival(shown));
  const first = inputs(times);
  const [held, setHeld] = useState<readonly string[] | undefined>(undefined);
  const [fields, setFields] = useState({ member: technician ?? '', ...first, takesOff: dragged, outside: false, notifies: false, message: '' });
  function set(changed: Partial<typeof fields>): void {
    setFields((known) => ({ ...known, ...changed }));
    // What was wrong with the fields may be corrected.
    if (action.problem?.code === 'INVALID_REQUEST') action.clear();
  }
  const onVisit = new Set(visit.assignments.filter(({ status }) => status !== 'CANCELED').map(({ team_member: { id } }) => id));
  const listed = technicians.filter(({ id }) => id === fields.member || !onVisit.has(id));
  // A time that was not edited keeps its seconds.
  const chosen = {
    starts_at: fields.starts === first.starts ? times.starts_at : instantOf(fields.starts),
    ends_at: fields.ends === first.ends ? times.ends_at : instantOf(fields.ends),
  };
  const outside = isOutside(chosen, visit);
  /** Other work of the technician at these times. */
  const [busy, setBusy] = useState<ReturnType<typeof overlaps>>([]);
  const inOrder = Date.parse(chosen.starts_at) < Date.parse(chosen.ends_at);
  const past =
    visit.dispatch_status === 'COMPLETED'
      ? 'The visit is completed. Adding a technician opens it again.'
      : Date.parse(chosen.ends_at) < Date.now() && 'These times are past.';
  const name = technicians.find(({ id }) => id === fields.member)?.name ?? '';
  const added = writes.add.done !== undefined;
  const unknown = writes.add.open || writes.remove.open;
  const fixed = unknown || added;

  async function findWork(signal: AbortSignal): Promise<typeof busy> {
    // Work may last for days.
    const visits = await readVisitsOf(fields.member, addDays(dayOf(chosen.starts_at), -7), addDays(dayOf(chosen.ends_at), 1), signal);
    return overlaps(visits, visit.id, fields.member, chosen);
  }

  useEffect(() => {
    setBusy([]);
    if (!adding || fields.member === '' || !inOrder) return;
    const ended = new AbortController();
    findWork(ended.signal).then(
      (found) => !ended.signal.aborted && setBusy(found),
      () => undefined,
    );
    return () => ended.abort();
  }, [fields.member, chosen.starts_at, chosen.ends_at]);

  /** Throws Problem for what the user can see to be wrong, before anything is sent. */
  async function check(): Promise<void> {
    const refuse = (message: string): never => {
      throw new Problem(message, { code: 'INVALID_REQUEST' });
    };
    if (fields.member === '') refuse('Choose a technician.');
    if (fields.starts === '' || fields.ends === '') refuse('Give the times from and to.');
    if (!inOrder) refuse('“To” must be later than “From”.');
    if (outside && !fields.outside) refuse('The times are outside the arrival window. Change them, or choose “Work outside the window”.');
    // If this cannot be read, the change may be made all the same.
    const found = await findWork(AbortSignal.timeout(WORK_MS)).catch(() => busy);
    setBusy(found);
    if (found.some(({ work }) => !busy.some((shown) => shown.work.id === work.id))) {
      refuse(`${name} has other work at this time. Press “Add technician” again to add it all the same.`);
    }
  }

  async function write(form: HTMLFormElement): Promise<void> {
    requireWholeMoments(form);
    if (adding && !fixed) await check();
    const text = fields.message.trim();
    const notification = fields.notifies ? (text === '' ? {} : { message: text }) : null;
    const removing = off !== undefined && (!adding || fields.takesOff);
    const did: string[] = [];
    let message: Requested | undefined;
    try {
      if (adding) {
        const again = added;
        const answer = await writes.add.send(
          {
            expected_revision: visit.revision,
            appointment_id: visit.id,
            team_member_id: fields.member,
            ...chosen,
            allow_outside_window: fields.outside,
            // A message is not sent once the visit has another revision, so the last write asks for it.
            customer_notification: removing ? null : notification,
          },
          addTechnician,
        );
        // After a removal that failed, the visit was read again.
        if (!again) latest.current = answer.visit;
        message = answer.message;
        did.push(`${name} was added to ${visit.number}.`);
      }
      if (removing) {
        const removal = { expected_revision: latest.current.revision, customer_notification: notification };
        const answer = await writes.remove.send(removal, (body, key) => removeTechnician(off.id, body, key));
        message = answer.message;
        did.push(`${off.team_member.name} was removed from ${visit.number}.`);
      }
    } catch (error) {
      await look(Problem.of(error));
      throw error;
    }
    onDone(did.join(' '), message);
  }

  /** Reads what the API holds after a write that failed. A refused field changes nothing. */
  async function look({ status }: Problem): Promise<void> {
    const before = latest.current;
    const now = await readRecord<Visit>('job-appointments', visit.id, AbortSignal.timeout(10_000)).catch(() => undefined);
    if (now === undefined) return setHeld(undefined);
    latest.current = now;
    setHeld(status === 400 && writes.add.done === undefined ? undefined : now.revision === before.revision ? [] : changesOf(before, now, when));
    if (taken !== undefined || writes.add.open || writes.add.done !== undefined) return;
    // The visit's times are the default: those that were not edited follow it.
    const within = withinArrival(now);
    setTimes(within);
    const next = inputs(within);
    set({ ...(fields.starts === first.starts && { starts: next.starts }), ...(fields.ends === first.ends && { ends: next.ends }) });
  }

  /** What the attempt that failed did. */
  function headline(): string {
    if (unknown) return added ? `${name} was added. Whether ${off?.team_member.name} was removed is not known.` : 'Whether the visit was changed is not known.';
    return added ? `${name} was added, but ${off?.team_member.name} was not removed.` : 'The visit was not changed.';
  }

  const when = (at: string): string => timeBeside(at, shown.starts_at);

  return (
    <Dialog title={adding ? `Add a technician to ${visit.number}` : `Remove ${off?.team_member.name} from ${visit.number}`} onCancel={onClose}>
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          const form = event.currentTarget;
          void action.run(() =>
            write(form).catch((error: unknown) => {
              throw inWords(Problem.of(error));
            }),
          );
        }}
      >
        <p>
          {visit.job.account.name} · planned {timeOfDay(visit.starts_at)} – {timeOfDay(visit.ends_at)} · arrives {timeOfDay(visit.window_start_at)} –{' '}
          {timeOfDay(visit.window_end_at)}
        </p>
        <ProblemBox problem={action.problem} title={headline()} focus />
        {action.problem !== undefined && held !== undefined && <Held visit={visit} news={held} when={when} />}
        <fieldset disabled={fixed || action.busy}>
          {adding && (
            <>
              <Field name="team_member_id" label="Technician" problem={undefined}>
                {(ties) => (
                  <select {...ties} value={fields.member} onChange={({ currentTarget: { value } }) => set({ member: value })}>
                    <option value="">Choose…</option>
                    {listed.map((each) => (
                      <option key={each.id} value={each.id}>
                        {each.name}
                      </option>
                    ))}
                  </select>
                )}
              </Field>
              <div class="two">
                <Field name="starts_at" label="From">
                  {(ties) => <input {...ties} {...MOMENT} value={fields.starts} onInput={({ currentTarget: { value } }) => set({ starts: value })} />}
                </Field>
                <Field name="ends_at" label="To">
                  {(ties) => <input {...ties} {...MOMENT} value={fields.ends} onInput={({ currentTarget: { value } }) => set({ ends: value })} />}
                </Field>
              </div>
              {past && (
                <p class="warning" role="status">
                  {past}
                </p>
              )}
              {busy.length > 0 && <Busy name={name} of={busy} when={when} />}
              {(outside || fields.outside) && (
                <Choice
                  name="outside"
                  label="Work outside the window"
                  hint="These times are outside the arrival window that the customer was given."
                  checked={fields.outside}
                  onChange={(outside) => set({ outside })}
                />
              )}
              {off !== undefined && (
                <Choice
                  name="takes-off"
                  label={`Take ${off.team_member.name} off the visit`}
                  checked={fields.takesOff}
                  onChange={(takesOff) => set({ takesOff })}
                />
              )}
            </>
          )}
          <Choice
            name="notifies"
            label="Send the customer a message"
            hint={`By the main channel of ${visit.job.contact?.name ?? 'the customer’s main contact'}.`}
            checked={fields.notifies}
            onChange={(notifies) => set({ notifies })}
          />
          {fields.notifies && (
            <Field name="message" label="Message" hint="Leave it empty for the usual text.">
              {(ties) => (
                <textarea {...ties} rows={2} maxLength={500} value={fields.message} onInput={({ currentTarget: { value } }) => set({ message: value })} />
              )}
            </Field>
          )}
        </fieldset>
        <div class="buttons end">
          <button type="button" onClick={onClose}>
            {fixed ? 'Close' : 'Cancel'}
          </button>
          <button type="submit" class={adding ? 'primary' : 'danger'} disabled={action.busy}>
            {fixed ? 'Try again' : adding ? 'Add technician' : 'Remove technician'}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

const inputs = ({ starts_at: starts, ends_at: ends }: Pick<Visit, 'starts_at' | 'ends_at'>) => ({
  starts: localInput(new Date(starts)),
  ends: localInput(new Date(ends)),
});

interface Chosen {
  name: string;
  label: string;
  hint?: string;
  checked: boolean;
  onChange: (checked: boolean) => void;
}

function Choice({ name, label, hint, checked, onChange }: Chosen) {
  return (
    <label class="choice">
      <input type="checkbox" id={name} name={name} checked={checked} onChange={({ currentTarget }) => onChange(currentTarget.checked)} />
      <span>
        {label}
        {hint !== undefined && <span class="hint">{hint}</span>}
      </span>
    </label>
  );
}

/** Visits on which the technician works at the same time. */
function Busy({ name, of, when }: { name: string; of: ReturnType<typeof overlaps>; when: (at: string) => string }) {
  return (
    <div class="warning" role="status">
      <strong>{name} works elsewhere at this time</strong>
      <ul>
        {of.map(({ visit, work }) => (
          <li key={work.id}>
            {visit.number}, {visit.job.account.name}, {when(work.starts_at)} – {when(work.ends_at)}
          </li>
        ))}
      </ul>
    </div>
  );
}

/** The visit as the API holds it, and what differs from what was shown before. */
function Held({
  visit: { assignments, starts_at: from, ends_at: to, canceled },
  news,
  when,
}: {
  visit: Visit;
  news: readonly string[];
  when: (at: string) => string;
}) {
  const technicians = assignments.map(({ team_member: { name }, status }) => `${name} (${titleCase(status).toLowerCase()})`).join(', ');
  return (
    <div class="warning">
      <strong>The visit as it is now</strong>
      <p>
        {canceled ? 'Canceled' : `${when(from)} – ${when(to)}`}, {technicians === '' ? 'no technician' : technicians}
      </p>
      {news.length > 0 && (
        <ul>
          {news.map((each) => (
            <li key={each}>{each}</li>
          ))}
        </ul>
      )}
    </div>
  );
}
