/** Highlights the heading being read in the page's contents: the last one above the upper third, or the last of all at the page's end. */
export function followReading(): void {
  const links = new Map([...document.querySelectorAll<HTMLAnchorElement>('.contents a')].map((link) => [link.hash.slice(1), link]));
  const headings = [...links.keys()].flatMap((id) => document.getElementById(id) ?? []);
  if (headings.length === 0) return;
  let waiting = false;
  const mark = (): void => {
    waiting = false;
    const ended = innerHeight + scrollY >= document.documentElement.scrollHeight - 2;
    const current =
      ended && scrollY > 0 ? headings.at(-1) : (headings.findLast((heading) => heading.getBoundingClientRect().top < innerHeight / 3) ?? headings[0]);
    for (const [id, link] of links) {
      if (id === current?.id) link.setAttribute('aria-current', 'location');
      else link.removeAttribute('aria-current');
    }
  };
  addEventListener(
    'scroll',
    () => {
      if (!waiting) requestAnimationFrame(mark);
      waiting = true;
    },
    { passive: true },
  );
  mark();
  document.querySelector('#menu [aria-current]')?.scrollIntoView({ block: 'nearest' });
}
