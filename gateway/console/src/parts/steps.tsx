import type { ComponentChildren } from 'preact';

/** A way to another time. The title is for screen readers; an arrow stands for it. */
interface Step {
  readonly href: string;
  readonly title: string;
}

/** Links to the time before and after the shown one, with the field that chooses any other between them. */
export function Steps({ before, after, children }: { before: Step; after: Step; children: ComponentChildren }) {
  return (
    <>
      <Arrow {...before} sign="‹" />
      {children}
      <Arrow {...after} sign="›" />
    </>
  );
}

function Arrow({ href, title, sign }: Step & { sign: string }) {
  return (
    <a class="button small" href={href}>
      <span class="unseen">{title}</span>
      <span aria-hidden="true">{sign}</span>
    </a>
  );
}
