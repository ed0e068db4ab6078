// A day's work: who is where, who is late, and what has no technician or no visit yet.
import { useEffect, useState } from 'preact/hooks';
import type { Visit } from '../../api/business.ts';
import type { Listed } from '../../api/reports.ts';
import { readTechnicians, readTimeOff, readUnbooked, readVisits, type Technician } from '../../api/schedule.ts';
import { focusHeading, Page } from '../../parts/page.tsx';
import { Loaded } from '../../parts/part.tsx';
import { Steps } from '../../parts/steps.tsx';
import { dayOf, instantOf, localInput, tick, timeOfDay, today } from '../../parts/time.tsx';
import { toldApart } from '../../parts/words.ts';
import { announce } from '../../state/notice.ts';
import { useResource } from '../../state/resource.ts';
import { go, places, route } from '../../state/route.ts';
import { useStore } from '../../state/store.ts';
import { Message, remember } from '../message.tsx';
import { VisitBadge } from '../records/badges.tsx';
import { techniciansOf, workOf } from '../records/columns.tsx';
import { addDays, isDay } from '../reports/calendar.ts';
import { Board, type Dragged } from './board.tsx';
import { ChangeDialog, type Change } from './change.tsx';
import { axisOf, lateOf, spanOf } from './layout.ts';
import { VisitMenu } from './menu.tsx';
import { ToDo } from './to-do.tsx';
import { Week } from './week.tsx';

/** A board has no room there: the day is a list. */
const PHONE = matchMedia('(max-width: 719px)');
const TECHNICIANS_MS = 300_000;

const dayTitle = (day: string): string => tick(new Date(instantOf(`${day}T12:00`)), true);
/** The visits of these days, and those of the day before that last into them. */
async function readWork(from: string, before: string, signal: AbortSignal): Promise<Listed<Visit>> {
  const { records, more } = await readVisits(addDays(from, -1), before, signal);
  const lasts = ({ ends_at: at }: Pick<Visit, 'ends_at'>): boolean => localInput(new Date(at)) > `${from}T00:00`;
  return { records: records.filter((visit) => dayOf(visit.starts_at) >= from || lasts(visit) || visit.assignments.some(lasts)), more };
}

/** Monday of the day's week. */
const mondayOf = (day: string): string => addDays(day, -((new Date(`${day}T00:00Z`).getUTCDay() + 6) % 7));

export function Today() {
  const { query } = useStore(route);
  const [menu, setMenu] = useState<Visit | undefined>(undefined);
  const [change, setChange] = useState<Change | undefined>(undefined);
  const [dragged, setDragged] = useState<Dragged | undefined>(undefined);
  const phone = usePhone();
  const current = today();
  const given = query.get('day') ?? '';
  const day = isDay(given) ? given : current;
  const week = query.get('view') === 'week';
  const [from, before] = week ? [mondayOf(day), addDays(mondayOf(day), 7)] : [day, addDays(day, 1)];
  const visits = useResource(`visits from ${from} before ${before}`, (signal) => readWork(from, before, signal));
  const technicians = useResource('technicians', readTechnicians, undefined, undefined, TECHNICIANS_MS);
  const timeOff = useResource(
    `time off ${day}`,
    (signal) => readTimeOff(instantOf(`${day}T00:00`), addDays(day, 1), addDays(day, -1), signal),
    undefined,
    undefined,
    TECHNICIANS_MS,
  );
  const requests = useResource('unbooked requests', readUnbooked);
  const to = (other: string, view = week): string => places.today({ day: other === current ? undefined : other, view: view ? 'week' : undefined });
  const step = week ? 7 : 1;
  const choices = withWorkers(technicians.value ?? [], visits.value?.records ?? []);
  const all = (visits.value?.records ?? []).map(naming(choices));
  const live = all.filter(({ canceled }) => !canceled);
  const unassigned = live.filter(({ dispatch_status: status }) => status === 'UNASSIGNED');
  const now = day === current && !week ? Date.now() : undefined;
  const late = now === undefined ? [] : lateOf(live, now);
  const counts = [
    ...(day === current && !week ? [dayTitle(day)] : []),
    `${live.length}${visits.value?.more ? ' or more' : ''} ${live.length === 1 ? 'visit' : 'visits'}`,
    `${unassigned.length} without a technician`,
    ...(late.length > 0 ? [`${late.length} running late`] : []),
    ...(all.length > live.length ? [`${all.length - live.length} canceled`] : []),
  ];

  return (
    <Page
      title={week ? `Week of ${dayTitle(from)}` : day === current ? 'Today' : dayTitle(day)}
      live={[visits, technicians, requests]}
      beside={
        visits.value && (
          <p class="soft counts" role="status">
            {counts.join(' · ')}
          </p>
        )
      }
      actions={
        <>
          <Steps
            before={{ href: to(addDays(day, -step)), title: week ? 'The week before' : 'The day before' }}
            after={{ href: to(addDays(day, step)), title: week ? 'The next week' : 'The next day' }}
          >
            <label class="day">
              <span class="unseen">Day</span>
              <input type="date" value={day} onChange={({ currentTarget: { value } }) => value !== '' && go(to(value))} />
            </label>
          </Steps>
          <nav class="choices" aria-label="Period">
            {[false, true].map((each) => (
              <a key={String(each)} href={to(day, each)} aria-current={each === week ? 'true' : undefined}>
                {each ? 'Week' : 'Day'}
              </a>
            ))}
          </nav>
          <button type="button" class="small" onClick={() => print()}>
            Print
          </button>
        </>
      }
    >
      <Loaded resource={visits} lines={12}>
        {() =>
          week && phone ? (
            weekOf(from)
              .map((each) => ({ ...each, own: all.filter(({ starts_at: at }) => dayOf(at) === each.day) }))
              .filter(({ own }) => own.length > 0)
              .map(({ day: each, title, own }) => (
                <section key={each}>
                  <h2>{title}</h2>
                  <ByTime visits={own} title={title} onMenu={setMenu} />
                </section>
              ))
          ) : week ? (
            <Week days={weekOf(from)} technicians={choices} visits={all} dayOf={dayOf} />
          ) : (
            <div class="today">
              {phone ? (
                <ByTime visits={all} title="Visits by time" onMenu={setMenu} />
              ) : (
                <Day
                  day={day}
                  now={now}
                  technicians={choices}
                  timeOff={timeOff.value ?? []}
                  visits={all}
                  onDrag={setDragged}
                  onMenu={setMenu}
                  onDrop={({ id }) => {
                    if (dragged === undefined || dragged.off?.team_member.id === id) return;
                    setChange({ ...dragged, adding: true, technician: id, dragged: true });
                    setDragged(undefined);
                  }}
                />
              )}
              <ToDo unassigned={unassigned} now={now} late={late} requests={requests} onDrag={phone ? undefined : setDragged} onMenu={setMenu} />
            </div>
          )
        }
      </Loaded>
      {menu !== undefined && (
        <VisitMenu
          visit={all.find(({ id }) => id === menu.id) ?? menu}
          onClose={() => setMenu(undefined)}
          onChoose={(chosen) => {
            setMenu(undefined);
            setChange(chosen);
          }}
        />
      )}
      {change !== undefined && (
        <ChangeDialog
          change={change}
          technicians={choices}
          onClose={() => {
            setChange(undefined);
            visits.refresh();
          }}
          onDone={(what, message) => {
            if (message !== undefined) remember(change.visit.id, message);
            setChange(undefined);
            announce(
              <>
                {what} {message !== undefined && <Message requested={message} />}
              </>,
            );
            focusHeading();
            visits.refresh();
          }}
        />
      )}
    </Page>
  );
}

const weekOf = (monday: string) => Array.from({ length: 7 }, (_, at) => addDays(monday, at)).map((day) => ({ day, title: dayTitle(day) }));

/** Those who may be assigned, and those who have work although they no longer may. */
function withWorkers(technicians: readonly Technician[], visits: readonly Visit[]): Technician[] {
  const all = new Map<string, Technician>(visits.flatMap((visit) => workOf(visit).map(({ team_member: member }) => [member.id, member])));
  for (const technician of technicians) all.set(technician.id, technician);
  return toldApart([...all.values()]).sort((a, b) => a.name.localeCompare(b.name));
}

/** Names the technicians of a visit as the choices do. */
function naming(choices: readonly Technician[]): (visit: Visit) => Visit {
  const names = new Map(choices.map(({ id, name }) => [id, name]));
  return (visit) => ({
    ...visit,
    assignments: visit.assignments.map(({ team_member: { id, name }, ...rest }) => ({ ...rest, team_member: { id, name: names.get(id) ?? name } })),
  });
}

function usePhone(): boolean {
  const [phone, setPhone] = useState(PHONE.matches);
  useEffect(() => {
    const changed = (): void => setPhone(PHONE.matches);
    PHONE.addEventListener('change', changed);
    return () => PHONE.removeEventListener('change', changed);
  }, []);
  return phone;
}

interface DayGiven extends Omit<Parameters<typeof Board>[0], 'axis' | 'rows'> {
  day: string;
  technicians: readonly Technician[];
  timeOff: readonly string[];
  visits: readonly Visit[];
}

function Day({ day, technicians, timeOff, visits, ...board }: DayGiven) {
  const bars = visits.flatMap((visit) => workOf(visit).map((off) => ({ visit, off, ...spanOf(off) })));
  const axis = axisOf(bars, (hour) => Date.parse(instantOf(hour === 24 ? `${addDays(day, 1)}T00:00` : `${day}T${String(hour).padStart(2, '0')}:00`)));
  const rows = technicians.map((technician) => ({
    technician,
    bars: bars.filter(({ off }) => off.team_member.id === technician.id),
    off: timeOff.includes(technician.id),
  }));
  return <Board axis={axis} rows={rows} {...board} />;
}

function ByTime({ visits, title, onMenu }: { visits: readonly Visit[]; title: string; onMenu: (visit: Visit) => void }) {
  if (visits.length === 0) return <p class="soft">No visit on this day.</p>;
  return (
    <ul class="stack" aria-label={title}>
      {visits.map((visit) => (
        <li key={visit.id} class="spread">
          <span>
            <a class="name" href={places.record('visits', visit.id)}>
              {timeOfDay(visit.starts_at)} – {timeOfDay(visit.ends_at)}
            </a>{' '}
            <VisitBadge visit={visit} />
            <span class="below">{visit.job.account.name}</span>
            <span class="soft below">{techniciansOf(visit)}</span>
          </span>
          <button type="button" class="small" aria-label={`Change ${visit.number}`} onClick={() => onMenu(visit)}>
            <span aria-hidden="true">⋮</span>
          </button>
        </li>
      ))}
    </ul>
  );
}
