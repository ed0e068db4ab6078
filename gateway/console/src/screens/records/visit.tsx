import type { Visit } from '../../api/business.ts';
import { Page } from '../../parts/page.tsx';
import { Table } from '../../parts/table.tsx';
import { Time, timeBeside } from '../../parts/time.tsx';
import { titleCase } from '../../parts/words.ts';
import { places } from '../../state/route.ts';
import { useMessage } from '../message.tsx';
import { VisitBadge } from './badges.tsx';
import { Developer, Facts, Party, Timeline } from './document.tsx';
import { Forms } from './form.tsx';

export function VisitDocument({ record }: { record: Visit }) {
  const { id, number, job, description, assignments, created_by: by } = record;
  const message = useMessage(id);
  const time = (at: string): string => timeBeside(at, record.starts_at);
  return (
    <Page title={`Visit ${number}`} above={{ title: job.account.name, href: places.customer(job.account.id) }} beside={<VisitBadge visit={record} />}>
      <article class="document">
        {description !== '' && <p class="document-title">{description}</p>}
        <div class="parties">
          <Party title="Customer" account={job.account} />
          <Facts
            of={[
              ['Begins', <Time key="at" at={record.starts_at} />],
              ['Ends', time(record.ends_at)],
              ['Arrives between', `${time(record.window_start_at)} and ${time(record.window_end_at)}`],
              ['Confirmed', record.confirmed ? 'Yes' : 'Not yet'],
              ['Where', job.location.address],
              [
                'Job',
                <a key="job" href={places.record('jobs', job.id)}>
                  {job.number}
                </a>,
              ],
              ['Job type', job.job_type?.name],
              ['Contact', job.contact?.name],
              ['Message', message],
              ['Canceled because', [record.cancellation_reason, record.cancellation_note].filter((part) => part !== null && part !== '').join(': ')],
            ]}
          />
        </div>
        {assignments.length === 0 ? (
          <p class="soft">No technician is assigned.</p>
        ) : (
          <Table
            caption="Technicians"
            rows={assignments}
            rowKey={({ id: of }) => of}
            columns={[
              { title: 'Technician', cell: ({ team_member: { name } }) => <strong>{name}</strong> },
              { title: 'From', cell: ({ starts_at: at }) => time(at) },
              { title: 'To', cell: ({ ends_at: at }) => time(at) },
              { title: 'Status', cell: ({ status }) => titleCase(status) },
            ]}
          />
        )}
      </article>
      <Forms by="appointment_id" ids={[id]} />
      <Timeline
        of={[
          { at: record.created_at, what: `Booked by ${by.name}` },
          { at: record.updated_at, what: 'Last change' },
          ...assignments.map(({ team_member: { name }, status, status_updated_at: at }) => ({ at, what: `${name}: ${titleCase(status).toLowerCase()}` })),
        ]}
      />
      <Developer path="job-appointments" record={record} />
    </Page>
  );
}
