import { useState } from 'preact/hooks';
import { Dialog } from '../../parts/dialog.tsx';
import { announce } from '../../state/notice.ts';
import { forgetView, saveView, savedViews, savedViewsVersion } from '../../state/saved-views.ts';
import { useStore } from '../../state/store.ts';

/** A button that saves the current address under a name, in this browser. */
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
  const [error, setError] = useState<string | undefined>(undefined);

  function submit(event: Event): void {
    event.preventDefault();
    const given = name.trim();
    if (given === '') return setError('Give the view a name.');
    if (!saveView({ name: given, href: location.hash })) return setError('This browser does not store anything for this page. Keep the address instead.');
    announce(`The view “${given}” was saved in this browser. It is listed under Reports.`);
    onClose();
  }

  return (
    <Dialog title="Save this view" onCancel={onClose}>
      <form onSubmit={submit} noValidate>
        <p>A view keeps what is chosen, not the figures: “This month” stays this month.</p>
        <div class="field">
          <label for="view-name">Name</label>
          <input
            id="view-name"
            value={name}
            maxLength={80}
            autocomplete="off"
            aria-invalid={error === undefined ? undefined : 'true'}
            aria-describedby={error === undefined ? undefined : 'view-name-error'}
            onInput={({ currentTarget }) => setName(currentTarget.value)}
          />
          {error !== undefined && (
            <p class="error" id="view-name-error" role="alert">
              {error}
            </p>
          )}
        </div>
        <div class="buttons end">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="primary">
            Save
          </button>
        </div>
      </form>
    </Dialog>
  );
}

export function SavedViews() {
  useStore(savedViewsVersion);
  const views = savedViews();
  if (views.length === 0) return null;
  return (
    <section aria-labelledby="saved">
      <h2 id="saved">Saved views</h2>
      <ul class="saved">
        {views.map(({ name, href }) => (
          <li key={name}>
            <a class="name" href={href}>
              {name}
            </a>
            <button type="button" class="small" aria-label={`Forget ${name}`} onClick={() => forgetView(name)}>
              Forget
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
