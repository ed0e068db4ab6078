import type { ComponentChildren, TargetedKeyboardEvent } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { MOST_SEARCHED } from '../state/search.ts';

/** Time without typing, in ms, before a search begins. */
const PAUSE_MS = 150;

interface Given {
  label: string;
  hint: string;
  /** The text that is searched for. */
  text: string;
  onSearch: (text: string) => void;
  /** Whether the list below is that of `text`. */
  ready: boolean;
  children: ComponentChildren;
}

/** A search box above its results. Arrow keys go from the box to the links of the class `name` and between them; Enter in the box opens the first. */
export function SearchList({ label, hint, text, onSearch, ready, children }: Given) {
  const all = useRef<HTMLDivElement>(null);
  const [typed, setTyped] = useState(text);
  const opens = useRef(false);
  const asked = useRef(text);
  const links = (): HTMLAnchorElement[] => [...(all.current?.querySelectorAll<HTMLAnchorElement>('a.name') ?? [])];
  const current = typed.trim() === text;

  useEffect(() => {
    if (current) return;
    const timer = setTimeout(() => onSearch((asked.current = typed.trim())), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  // The address may change by the browser's buttons. If it is what was asked for, more may have been typed since.
  useEffect(() => {
    if (text !== asked.current) setTyped((asked.current = text));
  }, [text]);
  useEffect(() => {
    if (!opens.current || !current || !ready) return;
    opens.current = false;
    links()[0]?.click();
  });

  function step(event: TargetedKeyboardEvent<HTMLDivElement>): void {
    const by = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (by === 0) return;
    const stops: HTMLElement[] = [all.current!.querySelector('input')!, ...links()];
    const at = stops.indexOf(document.activeElement as HTMLElement);
    if (at < 0) return;
    event.preventDefault();
    stops[Math.max(0, Math.min(stops.length - 1, at + by))]!.focus();
  }

  return (
    <div ref={all} onKeyDown={step}>
      <form
        role="search"
        class="search"
        onSubmit={(event) => {
          event.preventDefault();
          if (typed.trim() === '') return;
          opens.current = true;
          if (current && ready) {
            opens.current = false;
            links()[0]?.click();
          }
        }}
      >
        <label>
          <span class="unseen">{label}</span>
          <input
            type="search"
            name="search"
            value={typed}
            placeholder={hint}
            autocomplete="off"
            spellcheck={false}
            maxLength={MOST_SEARCHED}
            onInput={({ currentTarget }) => {
              opens.current = false;
              setTyped(currentTarget.value);
            }}
          />
        </label>
      </form>
      {children}
    </div>
  );
}
