const TIME = { hour: 'numeric', minute: '2-digit', second: '2-digit' } as const;
const THIS_YEAR = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric', ...TIME });
const OTHER_YEAR = new Intl.DateTimeFormat(undefined, { year: 'numeric', month: 'short', day: 'numeric', ...TIME });
const CLOCK = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });
const MINUTE = new Intl.DateTimeFormat(undefined, { hour: 'numeric', minute: '2-digit' });

function inWords(at: Date): string {
  return (at.getFullYear() === new Date().getFullYear() ? THIS_YEAR : OTHER_YEAR).format(at);
}

/** A moment in the viewer's time zone; its title has it in UTC, as exact as the API knows it. */
export function Time({ at }: { at: string }) {
  return <time dateTime={at} title={`${at.replace('T', ' ').replace(/Z$/, '')} UTC`}>{inWords(new Date(at))}</time>;
}

export function TimeOr({ at, otherwise }: { at: string | null; otherwise: string }) {
  return at === null ? <span class="soft">{otherwise}</span> : <Time at={at} />;
}

/** "2:47:05 PM" */
export const clock = (at: Date): string => CLOCK.format(at);

/** "2:47 PM", with the day where that is another one. */
export function until(at: Date): string {
  return at.toDateString() === new Date().toDateString() ? MINUTE.format(at) : inWords(at);
}

/** "35 ms", "14.2 s" */
export function duration(from: string, to: string): string {
  const ms = Math.max(0, Date.parse(to) - Date.parse(from));
  return ms < 1000 ? `${ms} ms` : `${(ms / 1000).toFixed(1)} s`;
}

/** What an input of type datetime-local takes: the moment in the viewer's zone, to the minute. */
export function localInput(at: Date): string {
  const pad = (value: number): string => String(value).padStart(2, '0');
  return `${at.getFullYear()}-${pad(at.getMonth() + 1)}-${pad(at.getDate())}T${pad(at.getHours())}:${pad(at.getMinutes())}`;
}

export const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
