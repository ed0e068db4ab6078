// Progress of a long command: one line that is redrawn on a terminal, or a line from time to time in a log.
import type { Io } from './io.ts';

const BAR_WIDTH = 24;
const DRAW_MS = 100;
const LOG_MS = 10_000;

export interface Progress {
  /** `done` and `total`, in any unit, set the bar; `count`, in records, sets the rate. */
  update(count: number, done: number, total: number | undefined): void;
  /** Clears the line, so that other text can be written. */
  clear(): void;
  end(): void;
}

/** `quiet` shows nothing, for scripts. */
export function createProgress(io: Io, label: string, unit: string, quiet: boolean): Progress {
  const terminal = io.stderr.isTTY === true;
  const startedAt = performance.now();
  let drawnAt = terminal ? -Infinity : startedAt;
  let drawn = false;

  function clear(): void {
    if (drawn && terminal) io.stderr.write('\r\x1b[K');
    drawn = false;
  }

  return {
    clear,
    end: clear,
    update(count, done, total) {
      const now = performance.now();
      if (quiet || now - drawnAt < (terminal ? DRAW_MS : LOG_MS)) return;
      drawnAt = now;
      const seconds = (now - startedAt) / 1000;
      const share = total === undefined || total === 0 ? undefined : Math.min(1, done / total);
      const parts = [
        label,
        ...(share === undefined ? [] : [...(terminal ? [bar(share)] : []), `${Math.floor(share * 100)} %`]),
        `${count.toLocaleString('en')} ${unit}`,
        ...(seconds < 1 ? [] : [`${Math.round(count / seconds).toLocaleString('en')}/s`]),
        ...(share === undefined || share < 0.01 || seconds < 2 ? [] : [`${duration((seconds / share) * (1 - share))} left`]),
      ];
      clear();
      io.stderr.write(terminal ? parts.join('  ') : `${parts.join('  ')}\n`);
      drawn = true;
    },
  };
}

function bar(share: number): string {
  const full = Math.round(share * BAR_WIDTH);
  return `${'█'.repeat(full)}${'░'.repeat(BAR_WIDTH - full)}`;
}

/** `1 change`, `1,200 changes`. */
export function counted(count: number, noun: string): string {
  return `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`;
}

/** `1 h 5 min`, `2 min 3 s`, `4 s`. */
export function duration(seconds: number): string {
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}
