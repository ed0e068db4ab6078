import type { Ground } from '../ground.ts';
import { Draw, stream } from '../random.ts';
import type { JobType } from '../reference.ts';
import { DAY, HOUR, MINUTE, month, weekday } from '../time.ts';
import type { Member, Members } from './team-members.ts';

const BOARD = stream('dispatch board');

/** Days of the board before and after today. */
export const DAYS_BEFORE = 16;
const DAYS_AFTER = 12;
const OPENS = 8;
const HOURS = 8;
/** Minutes of the longest visit, except installations, which take a whole day. */
const LONGEST = 120;

/** One job with one visit. */
export interface BoardSlot {
  readonly type: JobType;
  readonly bookedAt: number;
  readonly startsAt: number;
  readonly endsAt: number;
  /** Empty for a visit that waits for a technician. */
  readonly crew: readonly Member[];
}

/** Every visit of the weeks around today, in order, none of them at the same time as another of its technician. */
export function buildBoard(
  ground: Ground,
  { technicians, sales }: Members,
  jobTypes: readonly JobType[],
  seasons: readonly (readonly JobType[])[],
): BoardSlot[] {
  const { seed, today, until, zone } = ground;
  const begins = zone.startOfDay(today - DAYS_BEFORE);
  const slots: BoardSlot[] = [];
  const present = [...technicians, ...sales].filter(({ leftAt }) => leftAt > until);
  const installation = jobTypes.find(({ jobClass }) => jobClass === 'INSTALL') as JobType;
  const installers = present.filter(({ unit }) => unit === installation.unit.n);

  const add = (draw: Draw, crew: readonly Member[], type: JobType, local: number, minutes: number) => {
    const startsAt = zone.instant(local);
    const called = zone.startOfDay(Math.floor(local / DAY) - draw.between(0, 9)) + 7 * HOUR + draw.below(660) * MINUTE;
    const latest = Math.min(startsAt - 20 * MINUTE, until - draw.between(3, 300) * MINUTE);
    const bookedAt = Math.max(begins + draw.below(60) * MINUTE, Math.min(called, latest));
    slots.push({ type, bookedAt, startsAt, endsAt: startsAt + minutes * MINUTE, crew });
  };

  for (let ahead = -DAYS_BEFORE; ahead <= DAYS_AFTER; ahead++) {
    const day = today + ahead;
    if (weekday(day) > 4 && ahead !== 0) continue;
    const opens = day * DAY + (ahead === 0 ? openingToday(ground) : OPENS) * HOUR;
    const season = (seasons[month(day)] as readonly JobType[]).filter(({ minutes, archivedAt }) => minutes <= LONGEST && archivedAt === null);
    const filled = ahead <= 0 ? 0.9 : Math.max(0.3, 0.85 - 0.06 * ahead);
    for (const member of present) {
      const draw = new Draw(seed, BOARD, day, member.n);
      const types = season.filter(({ unit }) => unit.n === member.unit);
      if (types.length === 0) continue;
      let most = member.role === 'SALES' ? draw.below(2) : Infinity;
      for (let local = opens + draw.below(4) * 15 * MINUTE; local < opens + HOURS * HOUR && most > 0; most--) {
        const type = draw.pick(types);
        const minutes = Math.round((type.minutes * draw.pick([0.75, 1, 1, 1.25])) / 15) * 15;
        if (draw.chance(filled)) add(draw, [member], type, local, minutes);
        local += (minutes + draw.between(2, 6) * 15) * MINUTE;
      }
    }
    const draw = new Draw(seed, BOARD, day);
    if (draw.chance(filled * 0.4)) add(draw, installers, installation, opens, installation.minutes);
    for (let waiting = ahead < 0 ? 0 : draw.between(1, 4); waiting > 0; waiting--) {
      const type = draw.pick(season);
      add(draw, [], type, opens + draw.between(2, 7) * HOUR, type.minutes);
    }
  }
  return slots.sort((x, y) => x.startsAt - y.startsAt);
}

/** Local hour at which today's work begins: earlier or later than usual if it is night, so that visits are in progress now. */
function openingToday({ zone, until }: Ground): number {
  const hour = Math.floor((zone.local(until) % DAY) / HOUR);
  return Math.max(0, Math.min(Math.max(OPENS, hour - HOURS), hour - 2));
}
