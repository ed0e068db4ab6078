import { useState } from 'preact/hooks';
import { deleteView, saveView } from '../../api/integrations.ts';
import { Problem } from '../../api/problem.ts';
import type { View } from '../../api/types.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Field } from '../../parts/field.tsx';
import { Failure } from '../../parts/part.tsx';
import { ProblemBox } from '../../parts/problem-box.tsx';
import { useAction } from '../../state/action.ts';
import { announce } from '../../state/notice.ts';
import { RARELY_MS, useResource } from '../../state/resource.ts';
import { isOwn, loadViews } from '../../state/saved-views.ts';

/** Names that an address cannot end with. */
const NOT_NAMES: readonly string[] = ['', '.', '..'];

/** A button that saves the current address under a name. */
export function SaveView({ suggested }: { suggested: string }) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        Save view…
      </button>
      {open && <SaveDialog suggested={suggested} onClose={() => setOpen(false)} />}
    </>
  );
}

function SaveDialog({ suggested, onClose }: { suggested: string; onClose: () => void }) {
  const [name, setName] = useState(suggested);
  const [shared, setShared] = useState(false);
  const action = useAction();

  async function save(): Promise<void> {
    const given = name.trim();
    if (NOT_NAMES.includes(given)) throw notName();
    await saveView({ name: given, query: location.hash.slice(1), shared });
    announce(`The view “${given}” was saved. It is listed under Reports.`);
    onClose();
  }

  return (
    <Dialog title="Save this view" onCancel={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void action.run(save);
        }}
        noValidate
      >
        <ProblemBox problem={action.problem} title="The view was not saved." shownElsewhere={['name']} focus />
        <p>A view keeps what is chosen, not the figures: “This month” stays this month.</p>
        <Field name="name" label="Name" hint="A view of yours with this name is replaced." problem={action.problem}>
          {(ties) => <input {...ties} value={name} maxLength={100} autocomplete="off" onInput={({ currentTarget }) => setName(currentTarget.value)} />}
        </Field>
        <label class="choice">
          <input type="checkbox" checked={shared} onChange={({ currentTarget }) => setShared(currentTarget.checked)} />
          <span>
            Share it<span class="hint">The other users of the company see it under Reports.</span>
          </span>
        </label>
        <div class="buttons end">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="primary" disabled={action.busy}>
            Save
          </button>
        </div>
      </form>
    </Dialog>
  );
}

function notName(): Problem {
  const message = 'Give the view a name other than . and ..';
  return new Problem(message, { status: 400, code: 'INVALID_REQUEST', details: [{ field: 'name', code: 'INVALID_FORMAT', message }] });
}

export function SavedViews() {
  const resource = useResource('views', loadViews, undefined, undefined, RARELY_MS);
  const action = useAction();
  const { value, problem, refresh } = resource;
  const views = value?.views ?? [];
  if (views.length === 0 && problem === undefined && value?.problem === undefined) return null;

  const change = (work: () => Promise<unknown>): void =>
    void action.run(async () => {
      await work();
      refresh();
    });

  return (
    <section aria-labelledby="saved">
      <h2 id="saved">Saved views</h2>
      {problem !== undefined && <Failure resource={resource} what="Saved views" />}
      <ProblemBox problem={value?.problem} title="Some views are still in this browser only." />
      <ProblemBox problem={action.problem} title="The view was not changed." focus />
      <ul class="saved">
        {views.map((view) => (
          <SavedView key={`${view.createdBy.id} ${view.name}`} view={view} busy={action.busy} change={change} />
        ))}
      </ul>
    </section>
  );
}

function SavedView({ view, busy, change }: { view: View; busy: boolean; change: (work: () => Promise<unknown>) => void }) {
  const { name, query, shared, createdBy } = view;
  const verb = shared ? 'Stop sharing' : 'Share';
  return (
    <li>
      <a class="name" href={`#${query}`}>
        {name}
      </a>
      {isOwn(view) ? (
        <span class="buttons">
          <button
            type="button"
            class="small"
            aria-label={`${verb} ${name}`}
            disabled={busy}
            onClick={() => change(() => saveView({ name, query, shared: !shared }))}
          >
            {verb}
          </button>
          <button type="button" class="small" aria-label={`Forget ${name}`} disabled={busy} onClick={() => change(() => deleteView(name))}>
            Forget
          </button>
        </span>
      ) : (
        <span class="soft">shared by {createdBy.displayName}</span>
      )}
    </li>
  );
}
