import type { ComponentChildren } from 'preact';
import type { Visit } from '../../api/business.ts';
import type { Listed } from '../../api/reports.ts';
import type { Unbooked } from '../../api/schedule.ts';
import { number } from '../../parts/figures.ts';
import { Loaded } from '../../parts/part.tsx';
import { When, timeOfDay } from '../../parts/time.tsx';
import type { Resource } from '../../state/resource.ts';
import { places } from '../../state/route.ts';
import { Mail, Telephone } from '../customers/reach.tsx';
import { dragging, type Dragged } from './board.tsx';
import { lateInWords, lateness, type Late } from './layout.ts';

interface Given {
  unassigned: readonly Visit[];
  /** Undefined on another day than today. */
  now: number | undefined;
  late: readonly Late[];
  requests: Resource<Listed<Unbooked>>;
  /** Undefined where there is no board to drag to. */
  onDrag: ((dragged: Dragged | undefined) => void) | undefined;
  onMenu: (visit: Visit) => void;
}

/** What the dispatcher has to do: visits without a technician, technicians who are late, and requests without a visit. */
export function ToDo({ unassigned, now, late, requests, onDrag, onMenu }: Given) {
  return (
    <aside class="to-do" aria-label="To do">
      <List title={`Without a technician (${unassigned.length})`} none="Every visit has a technician.">
        {unassigned.map((visit) => (
          <li key={visit.id} class="spread" {...(onDrag && dragging({ visit }, onDrag))}>
            <span>
              <a class="name" href={places.record('visits', visit.id)} draggable={false}>
                {visit.number}
              </a>{' '}
              <span class="window">
                {timeOfDay(visit.starts_at)} – {timeOfDay(visit.ends_at)}
              </span>
              {now !== undefined && <Lateness visit={visit} now={now} />}
              <span class="soft below">{visit.job.account.name}</span>
            </span>
            <button type="button" class="small" aria-label={`Change ${visit.number}`} onClick={() => onMenu(visit)}>
              <span aria-hidden="true">⋮</span>
            </button>
          </li>
        ))}
      </List>
      {late.length > 0 && (
        <List title={`Running late (${late.length})`} none="">
          {late.map(({ visit, assignment, ...lateness }) => (
            <li key={assignment.id}>
              {assignment.team_member.name} <strong class="bad">{lateInWords(lateness)}</strong>
              <span class="soft below">
                <a href={places.record('visits', visit.id)}>{visit.number}</a> {visit.job.account.name}
              </span>
            </li>
          ))}
        </List>
      )}
      <Loaded resource={requests}>
        {({ records, more }) => (
          <List title={`Unbooked requests (${number(records.length)}${more ? ' or more' : ''})`} none="Every request has a visit or is closed.">
            {records.map((request) => (
              <li key={request.id}>
                {request.summary ?? `Request ${request.number}`}
                <span class="soft below">
                  {request.account === null ? (request.contact_name ?? '') : <a href={places.customer(request.account.id)}>{request.account.name}</a>}{' '}
                  <When at={request.created_at} />
                </span>
                <span class="below reach">
                  {request.phone !== null && <Telephone number={request.phone} />}
                  {request.email !== null && <Mail address={request.email} />}
                </span>
              </li>
            ))}
          </List>
        )}
      </Loaded>
    </aside>
  );
}

/** How late a visit is that has no technician. */
function Lateness({ visit, now }: { visit: Visit; now: number }) {
  const late = lateness({ ...visit, status: 'TO_DO' }, now);
  return late === undefined ? null : (
    <>
      {' '}
      <strong class="bad">{lateInWords(late)}</strong>
    </>
  );
}

function List({ title, none, children }: { title: string; none: string; children: ComponentChildren[] }) {
  return (
    <section>
      <h2>{title}</h2>
      {children.length === 0 ? <p class="soft">{none}</p> : <ul class="stack">{children}</ul>}
    </section>
  );
}
