import type { Reading, RecordKind, RecordOf } from '../../api/records.ts';
import { Badge } from '../../parts/badge.tsx';
import { number } from '../../parts/figures.ts';
import { Page } from '../../parts/page.tsx';
import { Table, type Column } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { methodName, titleCase } from '../../parts/words.ts';
import type { Sheet } from '../../xlsx/sheet.ts';
import { RARELY_MS, useResource } from '../../state/resource.ts';
import { places, route } from '../../state/route.ts';
import { useStore } from '../../state/store.ts';
import { Basis } from './basis.tsx';
import type { Figures } from './aging.ts';
import { dayName, rangeName } from './calendar.ts';
import { readFigures } from './data.ts';
import { addUp, type Measure, type Report, type Source } from './definitions.ts';
import { RecordsDownload, saveWorkbook, fileName } from './downloads.tsx';
import { figure, figureOf } from './figures.tsx';
import { groupName } from './group-name.ts';
import { chosenOf, factsOf, recordsSheet } from './sheets.ts';
import { AMOUNTS, DATES, MOST_RECORDS, ONE, TITLES, readLines, readSource, type Records as Loaded } from './sources.ts';
import { addressWith, valueIn, viewIn } from './view.ts';

const PAGE_SIZE = 50;

/** The records that a figure adds up, with their sums. */
export function Records({ report }: { report: Report }) {
  const { query } = useStore(route);
  const view = viewIn(report, query);
  const value = valueIn(query);
  const key = JSON.stringify([report.name, view.range, view.fault, view.group.key, view.filters, view.excluded, query.get('value')]);
  const resource = useResource(
    `records ${key}`,
    async (signal) => {
      if (view.fault !== undefined) return undefined;
      const explained = await readFigures(view, value, signal);
      const sources = await Promise.all(report.sources.map((source) => readSource(view, source, value, explained.settings, signal)));
      return { explained, sources };
    },
    undefined,
    undefined,
    RARELY_MS,
  );
  const loaded = resource.value;
  const name = loaded && value !== undefined ? groupName(view.group, loaded.explained.label) : undefined;
  const download = async ({ explained }: NonNullable<typeof loaded>, onProgress: (count: number) => void): Promise<void> => {
    const facts = factsOf({ ...view, compare: false }, explained.asOf, await chosenOf(view, name));
    const sheets: Sheet[] = [];
    for (const source of report.sources) {
      const lines = await readLines(view, source, value, explained.settings, onProgress);
      sheets.push(recordsSheet(source.kind, lines, measuresOf(report, source.kind), facts));
    }
    await saveWorkbook(`${fileName(report.name, view.range)}-records`, sheets);
  };
  const days = view.fault ?? rangeName(view.range);
  const back = addressWith(report, query, { value: undefined, page: undefined });
  return (
    <Page
      title={`${report.title}${name === undefined ? '' : `: ${name}`}`}
      days={days}
      above={{ title: `${report.title}, ${days}`, href: back }}
      live={[resource]}
      actions={loaded && <RecordsDownload make={(onProgress) => download(loaded, onProgress)} />}
    >
      {view.fault !== undefined && <p class="empty">{view.fault}</p>}
      {loaded && (
        <>
          <Basis view={{ ...view, compare: false }} asOf={loaded.explained.asOf} />
          {report.sources.map((source, index) => (
            <SourceRecords
              key={source.kind}
              source={source}
              report={report}
              loaded={loaded.sources[index]!}
              figures={loaded.explained.figures}
              overlapping={!report.additive && value === undefined}
              query={query}
            />
          ))}
        </>
      )}
    </Page>
  );
}

interface Given<K extends RecordKind> {
  /** Columns that only this figure's records have. */
  extra?: readonly Column<RecordOf[K]>[];
  source: Source<K>;
  report: Report;
  loaded: Loaded<K>;
  figures: Figures;
  overlapping: boolean;
  query: URLSearchParams;
}

export function SourceRecords<K extends RecordKind>({
  source: { kind },
  report,
  loaded: { records, more },
  figures,
  overlapping,
  query,
  extra = [],
}: Given<K>) {
  const amounts = (record: RecordOf[K]) => AMOUNTS[kind](record);
  const measures = measuresOf(report, kind);
  const { columns: chosen } = viewIn(report, query);
  const sums = addUp(records.map(amounts), measures);
  const pages = Math.max(1, Math.ceil(records.length / PAGE_SIZE));
  const page = Math.min(pages, Math.max(1, Number(query.get('page')) || 1));
  const to = (at: number): string => addressWith(report, query, { page: at === 1 ? undefined : String(at) }, ['records']);
  const columns: Column<RecordOf[K]>[] = [
    {
      title: ONE[kind],
      cell: (record) => (
        <a class="name" href={places.record(kind, record.id)}>
          {record.number ?? ONE[kind]}
        </a>
      ),
      ...(more ? {} : { total: `Sum of ${number(records.length)}` }),
    },
    { title: 'Date', cell: (record) => <Moment at={DATES[kind](record)} /> },
    { title: 'Customer', cell: ({ account }) => account.name },
    { title: kind === 'jobs' ? 'Job type' : kind === 'invoices' ? 'Status' : 'Method', cell: (record) => SORTS[kind](record) },
    ...extra,
    ...measures
      .filter((each) => each.kind !== 'count' && (each.detail !== true || chosen.includes(each)))
      .map((measure) => ({
        title: measure.title,
        numeric: true,
        cell: (record: RecordOf[K]) => figure(amounts(record)[measure.key], measure.kind),
        ...(more ? {} : { total: figureOf(sums, measure) }),
      })),
  ];
  return (
    <section aria-labelledby={kind}>
      <h2 id={kind}>
        {TITLES[kind]} <span class="soft">{more ? `the first ${number(records.length)}` : number(records.length)}</span>
      </h2>
      {!overlapping && <Proof measures={measures} sums={sums} figures={figures} more={more} />}
      {records.length === 0 ? (
        <div class="empty">
          <p>None.</p>
        </div>
      ) : (
        <Table
          caption={more ? `${TITLES[kind]}, only some of them` : `${TITLES[kind]}, newest first`}
          columns={columns}
          rows={records.slice((page - 1) * PAGE_SIZE, page * PAGE_SIZE)}
          rowKey={({ id }) => id}
        />
      )}
      {pages > 1 && (
        <nav class="pages" aria-label={`Pages of ${TITLES[kind].toLowerCase()}`}>
          {page > 1 && (
            <a class="button" href={to(page - 1)}>
              Newer
            </a>
          )}
          <span class="soft">
            Page {page} of {pages}
          </span>
          {page < pages && (
            <a class="button" href={to(page + 1)}>
              Older
            </a>
          )}
        </nav>
      )}
    </section>
  );
}

/** The report's measures that records of this kind add to. Of an invoice, an average says nothing; of a job, a margin does. */
export function measuresOf(report: Report, kind: RecordKind): readonly Measure[] {
  if (kind === 'payments') return report.measures.filter(({ key }) => key === 'payment_count' || key === 'received_cents');
  if (kind === 'refunds') return report.measures.filter(({ key }) => key === 'refund_count' || key === 'refunded_cents');
  return report.measures.filter(({ key }) => key !== 'average_total_cents');
}

/** Whether the records add up to what the report says. */
function Proof({ measures, sums, figures, more }: { measures: readonly Measure[]; sums: Figures; figures: Figures; more: boolean }) {
  if (more) {
    return (
      <p class="warning">
        There are more than {number(MOST_RECORDS)} records, the most that are added up here, so the table has only some of them and no sums. Choose a shorter
        period, or download all of them.
      </p>
    );
  }
  const wrong = measures.filter(({ key }) => sums[key] !== figures[key]);
  if (wrong.length === 0) {
    return (
      <p class="proof">
        <Badge tone="good">Adds up</Badge> The sums of these records are the figures of the report.
      </p>
    );
  }
  return (
    <p class="proof">
      <Badge tone="busy">Differs</Badge>{' '}
      {wrong.map((measure) => `${measure.title}: ${figureOf(sums, measure)} here, ${figureOf(figures, measure)} in the report.`).join(' ')} Records have changed
      in between: refresh.
    </p>
  );
}

export function Moment({ at }: { at: string | null }) {
  if (at === null) return <>–</>;
  return at.includes('T') ? <Time at={at} /> : <>{dayName(at)}</>;
}

/** What the column after the customer has. */
const SORTS: Reading<string> = {
  invoices: ({ status }) => titleCase(status),
  payments: ({ method }) => methodName(method),
  refunds: ({ payment_method: method }) => methodName(method),
  jobs: ({ job_type: type }) => type?.name ?? '–',
};

/** "Voided" of VOIDED */
