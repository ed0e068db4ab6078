import { inPages, type FormResponse, type Job } from '../../api/business.ts';
import { readList, readRecord } from '../../api/reports.ts';
import { Badge } from '../../parts/badge.tsx';
import { Page } from '../../parts/page.tsx';
import { Part } from '../../parts/part.tsx';
import { Rows, howMany, newestFirst } from '../../parts/rows.tsx';
import { Table, type Column } from '../../parts/table.tsx';
import { Day, Time } from '../../parts/time.tsx';
import { titleCase } from '../../parts/words.ts';
import { useResource } from '../../state/resource.ts';
import { places } from '../../state/route.ts';
import { Developer, Facts, Timeline } from './document.tsx';

const LINK_MS = 300_000;
/** Most forms that are read of 100 jobs. */
const MOST = 500;

const titleOf = ({ name, label }: FormResponse): string => (label === '' || label === name ? name : `${name}: ${label}`);

function FormBadge({ completed }: Pick<FormResponse, 'completed'>) {
  if (completed === null) return <span class="soft">–</span>;
  return completed ? <Badge tone="good">Complete</Badge> : <Badge tone="busy">Incomplete</Badge>;
}

interface Given {
  by: 'job_id' | 'appointment_id';
  ids: readonly string[];
  /** Whether there are more jobs than these. */
  partly?: boolean;
}

/** The forms of these jobs or visits, newest first. */
export function Forms({ by, ids, partly = false }: Given) {
  const forms = useResource(
    `forms of ${ids.join()} ${partly}`,
    async (signal) => {
      const lists = await inPages(ids, async (some) => [await readList<FormResponse>('form-responses', { [by]: some }, MOST, signal)]);
      const records = lists.flatMap((list) => list.records).sort((a, b) => b.created_at.localeCompare(a.created_at));
      return { records, more: partly || lists.some(({ more }) => more) };
    },
    undefined,
    undefined,
    LINK_MS,
  );
  return (
    <Part title="Forms" resource={forms} beside={howMany}>
      {(list) => <Rows of={list.records} caption={newestFirst('Forms', list)} none="No forms." columns={COLUMNS} />}
    </Part>
  );
}

const COLUMNS: readonly Column<FormResponse>[] = [
  {
    title: 'Form',
    cell: (form) => (
      <a class="name" href={places.record('form-responses', form.id)}>
        {titleOf(form)}
      </a>
    ),
  },
  { title: 'Begun', cell: ({ created_at: at }) => <Day at={at} /> },
  { title: 'By', cell: ({ last_edited_by: by }) => by.name },
  { title: 'Status', cell: FormBadge },
];

export function FormDocument({ record }: { record: FormResponse }) {
  const { questions, completed, job_id: jobId, appointment_id: visitId, last_edited_by: by } = record;
  const job = useResource(`job ${jobId}`, (signal) => readRecord<Job>('jobs', jobId, signal), undefined, undefined, LINK_MS);
  const sections = Map.groupBy(questions ?? [], ({ section }) => section);
  return (
    <Page
      title={titleOf(record)}
      above={{ title: job.value?.account.name ?? 'The customer', href: places.customer(record.account_id) }}
      beside={<FormBadge completed={completed} />}
    >
      <article class="document">
        <Facts
          of={[
            ['Job', <a href={places.record('jobs', jobId)}>{job.value?.number ?? 'The job'}</a>],
            ['Visit', <a href={places.record('visits', visitId)}>The visit</a>],
            ['Filled in by', by.name],
            ['Last change', <Time at={record.updated_at} />],
          ]}
        />
        {questions === null && <p class="soft">The answers of this kind of form are not kept here.</p>}
        {[...sections].map(([section, own]) => (
          <section key={section}>
            {section !== '' && <h2>{section}</h2>}
            <Table
              caption={section === '' ? 'Answers' : section}
              rows={own}
              rowKey={({ answer_path: path }) => path}
              columns={[
                {
                  title: 'Question',
                  cell: ({ label, required }) =>
                    required ? (
                      label
                    ) : (
                      <>
                        {label} <span class="soft">(optional)</span>
                      </>
                    ),
                },
                { title: 'Answer', cell: (question) => <Answer question={question} /> },
              ]}
            />
          </section>
        ))}
      </article>
      <Timeline
        of={[
          { at: record.created_at, what: 'Begun' },
          { at: record.updated_at, what: `Last change, by ${by.name}` },
        ]}
      />
      <Developer path="form-responses" record={record} />
    </Page>
  );
}

/** Answers of these types are codes; all others are in people's words. */
const CODED = new Set(['YES_NO', 'PASS_FAIL_FLAG']);

function Answer({ question: { type, value, attached_photo_url: photo } }: { question: NonNullable<FormResponse['questions']>[number] }) {
  return (
    <>
      {value === null ? <span class="soft">–</span> : CODED.has(type) && /^[A-Z][A-Z_]*$/.test(value) ? titleCase(value) : value}
      {photo !== null && /^https?:/.test(photo) && (
        <>
          {' '}
          <a href={photo} target="_blank" rel="noreferrer">
            Photo
          </a>
        </>
      )}
    </>
  );
}
