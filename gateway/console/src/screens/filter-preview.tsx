import type { FilterPreview as Result, PreviewedEvent } from '../api/types.ts';
import { number } from '../parts/figures.ts';
import { Table, type Column } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';

/** Most events that are listed; the sentence above them counts all. */
const MOST = 20;

export interface Preview {
  /** The event types and the filter, as text. */
  readonly asked: string;
  readonly result: Result;
}

const COLUMNS: readonly Column<PreviewedEvent>[] = [
  {
    title: 'Event',
    cell: ({ eventType, subject, subjectNumber, customerName }) => (
      <>
        <code>{eventType}</code>
        <span class="soft below">{[subjectNumber ?? subject, customerName].filter((part) => part !== null).join(' · ')}</span>
      </>
    ),
  },
  { title: 'Time', cell: ({ createdAt }) => <Time at={createdAt} /> },
];

/** Which of the newest events a filter lets through. Always rendered, because screen readers announce only live regions that already exist. */
export function FilterPreview({ preview }: { preview: Preview | undefined }) {
  const result = preview?.result;
  return (
    <div class="preview">
      <p role="status">{result && summary(result)}</p>
      {result && result.events.length > 0 && (
        <Table caption="Recent events that would be sent" columns={COLUMNS} rows={result.events.slice(0, MOST)} rowKey={({ id }) => id} />
      )}
    </div>
  );
}

function summary({ examined, oldestAt, events }: Result) {
  if (oldestAt === null) return 'There are no events of the last 30 days to try it on.';
  return (
    <>
      <strong>
        {number(events.length)} of the newest {number(examined)} {examined === 1 ? 'event' : 'events'}
      </strong>{' '}
      of the company would be sent. The oldest is from <Time at={oldestAt} />.{events.length > MOST && ` The newest ${MOST}:`}
    </>
  );
}
