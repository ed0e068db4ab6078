import { useState } from 'preact/hooks';
import { deleteView, listViews } from '../../api/integrations.ts';
import type { View } from '../../api/types.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Field } from '../../parts/field.tsx';
import { focusHeading } from '../../parts/page.tsx';
import { Failure } from '../../parts/part.tsx';
import { ProblemBox } from '../../parts/problem-box.tsx';
import { useAction } from '../../state/action.ts';
import { announce } from '../../state/notice.ts';
import { RARELY_MS, useResource } from '../../state/resource.ts';
import { forgetKept, isOwn, loadViews, saveNamed, type Refused } from '../../state/saved-views.ts';

/** Longest wait in ms for the views that a new one may replace. */
const LIST_MS = 10_000;

/** A button that saves the current address under a name. */
export function SaveView({ suggested }: { suggested: string }) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        Save view…
      </button>
      {open && <SaveDialog suggested={suggested} query={location.hash.slice(1)} onClose={() => setOpen(false)} />}
    </>
  );
}

interface Saving {
  suggested: string;
  query: string;
  onSaved?: () => void;
  onClose: () => void;
}

function SaveDialog({ suggested, query, onSaved, onClose }: Saving) {
  const [name, setName] = useState(suggested);
  const [chosen, setChosen] = useState<boolean | undefined>(undefined);
  const views = useResource('views to replace', listViews, undefined, undefined, RARELY_MS);
  const action = useAction();
  // A view that is replaced stays shared, or not, until the user says otherwise.
  const isShared = (of: readonly View[] | undefined): boolean => of?.find((view) => isOwn(view) && view.name === name.trim())?.shared ?? false;

  async function save(): Promise<void> {
    const given = name.trim();
    const shared = chosen ?? isShared(views.value ?? (await listViews(AbortSignal.timeout(LIST_MS))));
    await saveNamed({ name: given, query, shared });
    onSaved?.();
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
          <input type="checkbox" checked={chosen ?? isShared(views.value)} onChange={({ currentTarget }) => setChosen(currentTarget.checked)} />
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

export function SavedViews() {
  const resource = useResource('views', loadViews, undefined, undefined, RARELY_MS);
  const action = useAction();
  const { value, problem, refresh } = resource;
  const views = value?.views ?? [];
  const refused = value?.refused ?? [];
  if (views.length + refused.length === 0 && problem === undefined && value?.problem === undefined) return null;

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
          <SavedView key={`${view.createdBy.id} ${view.name}`} view={view} change={change} />
        ))}
        {refused.map((view) => (
          <RefusedView key={`${view.name} ${view.query}`} view={view} onGone={refresh} />
        ))}
      </ul>
    </section>
  );
}

function SavedView({ view, change }: { view: View; change: (work: () => Promise<unknown>) => void }) {
  const { name, query, shared, createdBy } = view;
  const verb = shared ? 'Stop sharing' : 'Share';
  return (
    <li>
      <a class="name" href={`#${query}`}>
        {name}
      </a>
      {isOwn(view) ? (
        <span class="buttons">
          <button type="button" class="small" aria-label={`${verb} ${name}`} onClick={() => change(() => saveNamed({ name, query, shared: !shared }))}>
            {verb}
          </button>
          <button type="button" class="small" aria-label={`Forget ${name}`} onClick={() => change(() => forget(name))}>
            Forget
          </button>
        </span>
      ) : (
        <span class="soft">shared by {createdBy.displayName}</span>
      )}
    </li>
  );
}

/** The button that had the focus goes with the view. */
async function forget(name: string): Promise<void> {
  await deleteView(name);
  announce(`The view “${name}” was removed.`);
  focusHeading();
}

/** A view that is in this browser only, because the API refuses it as it is. */
function RefusedView({ view, onGone }: { view: Refused; onGone: () => void }) {
  const { name, query, reason } = view;
  const [open, setOpen] = useState(false);
  const gone = (): void => {
    forgetKept(view);
    focusHeading();
    onGone();
  };
  return (
    <li>
      <a class="name" href={`#${query}`}>
        {name}
      </a>
      <span class="bad">It is in this browser only. {reason}</span>
      <span class="buttons">
        <button type="button" class="small" aria-label={`Rename… ${name}`} onClick={() => setOpen(true)}>
          Rename…
        </button>
        <button type="button" class="small" aria-label={`Remove ${name} from this browser`} onClick={gone}>
          Remove
        </button>
      </span>
      {open && <SaveDialog suggested={name} query={query} onSaved={gone} onClose={() => setOpen(false)} />}
    </li>
  );
}
