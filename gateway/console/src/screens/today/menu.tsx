import type { Visit } from '../../api/business.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { timeOfDay } from '../../parts/time.tsx';
import { titleCase } from '../../parts/words.ts';
import { places } from '../../state/route.ts';
import { VisitBadge } from '../records/badges.tsx';
import type { Change } from './change.tsx';
import { isRemovable } from './layout.ts';

/** What can be done with a visit: the keyboard's way to what a drag does. */
export function VisitMenu({ visit, onChoose, onClose }: { visit: Visit; onChoose: (change: Change) => void; onClose: () => void }) {
  const { number, job, assignments } = visit;
  const working = assignments.filter(({ status }) => status !== 'CANCELED');
  return (
    <Dialog title={`Visit ${number}`} onCancel={onClose}>
      <p>
        <a href={places.customer(job.account.id)}>{job.account.name}</a> · {timeOfDay(visit.starts_at)} – {timeOfDay(visit.ends_at)}{' '}
        <VisitBadge visit={visit} />
      </p>
      <p class="soft">
        {job.location.address} · arrives {timeOfDay(visit.window_start_at)} – {timeOfDay(visit.window_end_at)}
      </p>
      <ul class="stack">
        {assignments.map((assignment) => (
          <li key={assignment.id} class="spread">
            <span>
              {assignment.team_member.name} <span class="soft">{titleCase(assignment.status).toLowerCase()}</span>
            </span>
            {isRemovable(assignment) && (
              <button type="button" class="small" onClick={() => onChoose({ visit, adding: false, off: assignment })}>
                Remove {assignment.team_member.name}…
              </button>
            )}
          </li>
        ))}
        {assignments.length === 0 && <li class="soft">No technician yet</li>}
      </ul>
      <div class="buttons end">
        <button type="button" onClick={onClose}>
          Close
        </button>
        {!visit.canceled && (
          <button type="button" class="primary" onClick={() => onChoose({ visit, adding: true, off: working.length === 1 ? working[0] : undefined })}>
            Add technician…
          </button>
        )}
      </div>
    </Dialog>
  );
}
