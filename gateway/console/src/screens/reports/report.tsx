import { Bars } from '../../parts/bars.tsx';
import { Columns } from '../../parts/columns.tsx';
import { Page, focusHeading } from '../../parts/page.tsx';
import type { Column } from '../../parts/table.tsx';
import { goInstead, places, route } from '../../state/route.ts';
import { useStore } from '../../state/store.ts';
import { Basis } from './basis.tsx';
import { bucketName, bucketTick, rangeName } from './calendar.ts';
import { Controls } from './controls.tsx';
import { useReport, type GroupFigures, type PeriodFigures, type ReportFigures } from './data.ts';
import { groupName } from './group-name.ts';
import { Downloads } from './downloads.tsx';
import type { Measure, Report as Definition } from './definitions.ts';
import { TileFigure, change, figureOf, shortFigure } from './figures.tsx';
import { Length } from './length.tsx';
import { filtersInWords } from './name-filters.tsx';
import { Ranked } from './ranked.tsx';
import { SaveView } from './saved.tsx';
import { sheetsOf } from './sheets.ts';
import { NONE, addressWith, only, usualColumns, viewIn, type View } from './view.ts';

/** One report: its total, its figures over time, and its groups, ranked. Each leads to what it is made of. */
export function Report({ report }: { report: Definition }) {
  const { query } = useStore(route);
  const view = viewIn(report, query);
  const resource = useReport(view);
  const figures = resource.value;
  return (
    <Page
      title={report.title}
      days={view.fault ?? rangeName(view.range)}
      above={{ title: 'Reports', href: places.reports }}
      live={[resource]}
      actions={<SaveView suggested={`${report.title} by ${view.group.title.toLowerCase()}`} />}
    >
      <p class="lead">{report.lead}</p>
      <Controls view={view} query={query} />
      {view.fault !== undefined && <p class="empty">Correct the period that is marked above. Nothing is shown until then.</p>}
      {figures !== undefined && (
        <>
          <Basis view={view} asOf={figures.asOf} />
          {figures.total !== undefined && <Totals view={view} total={figures.total} />}
          {figures.periods.length > 0 && <OverTime view={view} query={query} figures={figures} />}
          <Groups view={view} query={query} figures={figures} />
          <Downloads view={view} sheets={async () => sheetsOf(view, figures, await filtersInWords(report.filters, view.filters))} />
        </>
      )}
    </Page>
  );
}

function Totals({ view, total: { now, before } }: { view: View; total: NonNullable<ReportFigures['total']> }) {
  return (
    <dl class="tiles many">
      {usualColumns(view.report, view.measure).map((measure) => (
        <div key={measure.key}>
          <dt>{measure.title}</dt>
          <dd class="figure">
            <TileFigure sums={now} measure={measure} />
          </dd>
          {before !== undefined && (
            <dd class="soft">
              {change(now[measure.key] ?? null, before[measure.key] ?? null, measure.kind)} from {figureOf(before, measure)}
            </dd>
          )}
        </div>
      ))}
    </dl>
  );
}

interface Part {
  view: View;
  query: URLSearchParams;
  figures: ReportFigures;
}

function OverTime({ view, query, figures: { periods, total } }: Part) {
  const { report, measure, bucket, compare } = view;
  const name = ({ range }: PeriodFigures): string => bucketName(range, bucket);
  // A single bar would lead to itself.
  const href = ({ range }: PeriodFigures): string =>
    periods.length > 1 ? addressWith(report, query, only(range)) : addressWith(report, query, { page: undefined, value: undefined }, ['records']);
  const text = (of: PeriodFigures): string =>
    `${name(of)}: ${measure.title} ${figureOf(of.now, measure)}${of.before === undefined ? '' : `, before ${figureOf(of.before, measure)}`}`;
  const sum = (of: PeriodFigures['now'] | undefined): string => (of === undefined ? '' : figureOf(of, measure));
  const columns: Column<PeriodFigures>[] = [
    {
      title: 'Period',
      cell: (of) => (
        <a href={href(of)} onClick={focusHeading}>
          {name(of)}
        </a>
      ),
    },
    ...view.columns.map((each) => ({ title: each.title, numeric: true, cell: ({ now }: PeriodFigures) => figureOf(now, each) })),
    ...(compare ? beforeColumns<PeriodFigures>(measure) : []),
  ];
  const isNothing = periods.every(({ now, before }) => [measure, ...view.columns].every(({ key }) => !now[key] && !before?.[key]));
  if (isNothing)
    return (
      <section aria-labelledby="over-time">
        <h2 id="over-time">Over time</h2>
        <div class="empty">
          <p>Nothing in this period.</p>
        </div>
      </section>
    );
  return (
    <section aria-labelledby="over-time">
      <h2 id="over-time">Over time</h2>
      <Bars
        title={`${measure.title} by ${bucket}`}
        legend={[
          { name: 'now', label: measure.title, total: sum(total?.now) },
          ...(compare ? [{ name: 'before', label: 'Previous period', total: sum(total?.before) }] : []),
        ]}
        bars={periods.map((of) => ({
          key: of.range.start,
          name: name(of),
          tick: bucketTick(of.range.start, bucket),
          value: of.now[measure.key] ?? null,
          before: of.before?.[measure.key] ?? null,
          text: text(of),
          href: href(of),
        }))}
        format={(value) => shortFigure(value, measure.kind)}
        shares={measure.kind === 'share'}
        onOpen={focusHeading}
        table={{ rows: periods, rowKey: ({ range }) => range.start, columns }}
      />
    </section>
  );
}

const beforeColumns = <T extends Pick<PeriodFigures, 'now' | 'before'>>(measure: Measure): Column<T>[] => [
  { title: `${measure.title} before`, numeric: true, cell: ({ before }) => (before === undefined ? '–' : figureOf(before, measure)) },
  { title: 'Change', numeric: true, cell: ({ now, before }) => change(now[measure.key] ?? null, before?.[measure.key] ?? null, measure.kind) },
];

function Groups({ view, query, figures: { groups, total } }: Part) {
  const { report, group, measure, compare } = view;
  const of = ({ now }: GroupFigures): number => now[measure.key] ?? Number.MIN_SAFE_INTEGER;
  const ranked = groups.toSorted((a, b) => of(b) - of(a));
  const most = Math.max(1, ...ranked.map(({ now }) => Math.abs(now[measure.key] ?? 0)));
  const href = (value: string | null): string => addressWith(report, query, { value: value ?? NONE, group: group.key, page: undefined }, ['records']);
  const nameOf = ({ label }: GroupFigures): string => groupName(group, label);
  const columns: Column<GroupFigures>[] = [
    {
      title: group.title,
      sorts: nameOf,
      cell: (row) => (
        <a class="name" href={href(row.value)}>
          {nameOf(row)}
        </a>
      ),
      ...(total && { total: <a href={addressWith(report, query, { value: undefined, page: undefined }, ['records'])}>Total</a> }),
    },
    // A comparison needs its room.
    ...(compare
      ? []
      : [{ title: `${measure.title}, drawn`, quiet: true, cell: ({ now }: GroupFigures) => <Length value={now[measure.key] ?? null} most={most} /> }]),
    ...view.columns.map((each) => ({
      title: each.title,
      numeric: true,
      sorts: ({ now }: GroupFigures) => now[each.key] ?? null,
      cell: ({ now }: GroupFigures) => figureOf(now, each),
      ...(total && { total: figureOf(total.now, each) }),
    })),
    ...(compare ? beforeColumns<GroupFigures>(measure) : []),
  ];
  const title = report.additive ? `By ${group.title.toLowerCase()}` : 'Technicians, ranked';
  return (
    <section aria-labelledby="groups" class="groups">
      <div class="spread">
        <h2 id="groups">{title}</h2>
        <Columns
          all={report.measures}
          shown={view.columns.map(({ key }) => key)}
          // The address has them, and so has a saved view.
          show={(column) => goInstead(addressWith(report, query, { column }))}
        />
      </div>
      {!report.additive && <p class="soft">Each technician has the whole result of every job that they took part in. Rows overlap and must not be added up.</p>}
      {ranked.length === 0 ? (
        <div class="empty">
          <p>Nothing in this period.</p>
        </div>
      ) : (
        <Ranked caption={`${measure.title} ${title.toLowerCase()}, highest first`} columns={columns} rows={ranked} rowKey={({ value }) => value ?? NONE} />
      )}
    </section>
  );
}
