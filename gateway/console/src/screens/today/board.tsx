import type { Visit } from '../../api/business.ts';
import type { Assignment, Technician } from '../../api/schedule.ts';
import { timeOfDay } from '../../parts/time.tsx';
import { places } from '../../state/route.ts';
import { visitStatus } from '../records/badges.tsx';
import { byFinger, isPressed } from './finger.ts';
import { lateInWords, lateness, leftOf, placeOf, spanOf, stack, type Axis, type Span } from './layout.ts';

/** A visit that is being dragged, and the assignment that was taken, if it has a technician. */
export interface Dragged {
  readonly visit: Visit;
  readonly off?: Assignment | undefined;
}

export interface Bar extends Span, Dragged {
  readonly off: Assignment;
}

interface Given {
  axis: Axis;
  /** Undefined on another day than today. */
  now: number | undefined;
  rows: readonly { readonly technician: Technician; readonly bars: readonly Bar[]; readonly off: boolean }[];
  /** Undefined when the drag ends. */
  onDrag: (dragged: Dragged | undefined) => void;
  onDrop: (technician: Technician) => void;
  onMenu: (visit: Visit) => void;
}

/** Attributes of an element that can be dragged. */
export const dragging = (dragged: Dragged, onDrag: Given['onDrag']) => ({
  draggable: true,
  onDragStart: (event: DragEvent) => {
    if (isPressed()) return event.preventDefault();
    // Firefox drags nothing without data.
    event.dataTransfer?.setData('text/plain', dragged.visit.number);
    onDrag(dragged);
  },
  onDragEnd: () => onDrag(undefined),
  ...byFinger(
    () => onDrag(dragged),
    () => onDrag(undefined),
  ),
});

/** Most hours that the axis names: more would run into each other. */
const MOST_LABELS = 12;
/** Height of a lane in px, with the space between two. */
const LANE = 44;

const percent = (value: number): string => `${value}%`;

/** Technicians below each other, and their work on an axis of time. */
export function Board({ axis, now, rows, onDrag, onDrop, onMenu }: Given) {
  const step = Math.ceil(axis.hours.length / MOST_LABELS);
  return (
    <div class="board" role="group" aria-label="Visits by technician">
      <div class="axis" aria-hidden="true">
        {axis.hours.slice(0, -1).map((hour, index) => (
          <span key={hour} hidden={index % step > 0} style={{ left: percent(leftOf(hour, axis)) }}>
            {timeOfDay(new Date(hour).toISOString()).replace(':00', '')}
          </span>
        ))}
      </div>
      {rows.map(({ technician, bars, off }) => {
        const stacked = stack(bars);
        const lanes = Math.max(1, ...stacked.map(({ lane }) => lane + 1));
        return (
          <div
            key={technician.id}
            class="technician"
            role="group"
            aria-label={technician.name}
            data-technician={technician.id}
            onDragOver={(event) => event.preventDefault()}
            onDrop={(event) => {
              event.preventDefault();
              onDrop(technician);
            }}
          >
            <span class="who-works" title={technician.name}>
              {technician.name}
            </span>
            <div class="lanes" style={{ height: `${lanes * LANE + 4}px` }}>
              {axis.hours.slice(1, -1).map((hour) => (
                <i key={hour} style={{ left: percent(leftOf(hour, axis)) }} />
              ))}
              {off && bars.length === 0 && <span class="soft time-off">Time off</span>}
              {stacked.map(({ bar, lane }) => (
                <VisitBar key={bar.off.id} bar={bar} lane={lane} axis={axis} now={now} onDrag={onDrag} onMenu={onMenu} />
              ))}
              {now !== undefined && now > axis.from && now < axis.to && <i class="now" title="Now" style={{ left: percent(leftOf(now, axis)) }} />}
            </div>
          </div>
        );
      })}
    </div>
  );
}

function VisitBar({ bar, lane, axis, now, onDrag, onMenu }: { bar: Bar; lane: number } & Pick<Given, 'axis' | 'now' | 'onDrag' | 'onMenu'>) {
  const { visit, off } = bar;
  const place = placeOf(bar, axis);
  if (place === undefined) return null;
  const arrival = placeOf(spanOf({ starts_at: visit.window_start_at, ends_at: visit.window_end_at }), axis);
  const late = now === undefined || visit.canceled ? undefined : lateness(off, now);
  const [tone, named] = visitStatus(visit);
  const status = late === undefined ? named : `${named}, ${lateInWords(late)}`;
  const top = `${lane * LANE + 4}px`;
  // It begins with the text that is seen, so that who speaks the text to a computer is understood.
  const label = `${visit.job.account.name} ${status}, ${visit.number}, ${timeOfDay(off.starts_at)} – ${timeOfDay(off.ends_at)}`;
  return (
    <>
      {arrival !== undefined && <span class="arrival" aria-hidden="true" style={{ top, left: percent(arrival.left), width: percent(arrival.width) }} />}
      <div
        class={`visit ${tone}${visit.canceled ? ' canceled' : ''}${late === undefined ? '' : ' late'}`}
        title={label}
        {...(!visit.canceled && dragging({ visit, off }, onDrag))}
        style={{ top, left: percent(place.left), width: percent(place.width) }}
      >
        <a href={places.record('visits', visit.id)} draggable={false} aria-label={label}>
          {visit.job.account.name} <span>{status}</span>
        </a>
        <button type="button" aria-label={`Change ${visit.number}`} onClick={() => onMenu(visit)}>
          <span aria-hidden="true">⋮</span>
        </button>
      </div>
    </>
  );
}
