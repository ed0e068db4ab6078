import { Bars } from '../../parts/bars.tsx';
import { Page, focusHeading } from '../../parts/page.tsx';
import type { Column } from '../../parts/table.tsx';
import { Time, today } from '../../parts/time.tsx';
import { RARELY_MS, useResource } from '../../state/resource.ts';
import { go, places, route } from '../../state/route.ts';
import { useStore } from '../../state/store.ts';
import { AGES, RECEIVABLES as REPORT, addUp, type Age, type Measure } from './definitions.ts';
import { ageIn, figuresOf, rankedGroups, readAging, type Aging, type Figures } from './aging.ts';
import { Download } from './downloads.tsx';
import { TileFigure, figureOf, shortFigure } from './figures.tsx';
import { groupName } from './group-name.ts';
import { NameFilter, filtersInWords } from './name-filters.tsx';
import { Length } from './length.tsx';
import { Ranked } from './ranked.tsx';
import { SaveView } from './saved.tsx';
import { agingSheet } from './sheets.ts';
import { NONE, addressWith, viewIn, type View } from './view.ts';

const [COUNT, BALANCE] = REPORT.measures as [Measure, Measure];
const EMPTY = addUp([], REPORT.measures);

/** What customers owe, by age. A bar leads to its groups, and a group to its invoices. */
export function Receivables() {
  const { query } = useStore(route);
  const view = viewIn(REPORT, query);
  const age = ageIn(query);
  const key = JSON.stringify([view.group.key, view.filters]);
  const resource = useResource(`receivables ${key}`, (signal) => readAging(view, signal), undefined, undefined, RARELY_MS);
  const aging = resource.value;
  const title = age === undefined ? REPORT.title : `${REPORT.title}: ${AGES[age].toLowerCase()}`;
  return (
    <Page
      title={title}
      above={age === undefined ? { title: 'Reports', href: places.reports } : { title: REPORT.title, href: addressWith(REPORT, query, { age: undefined }) }}
      live={[resource]}
      actions={<SaveView suggested={`${title} by ${view.group.title.toLowerCase()}`} />}
    >
      <p class="lead">{REPORT.lead}</p>
      <form class="filters report-filters" aria-label="What the report shows" onSubmit={(event) => event.preventDefault()}>
        <label>
          Group by
          <select name="group" value={view.group.key} onChange={({ currentTarget }) => go(addressWith(REPORT, query, { group: currentTarget.value }))}>
            {REPORT.groups.map((group) => (
              <option key={group.key} value={group.key}>
                {group.title}
              </option>
            ))}
          </select>
        </label>
        {REPORT.filters.map((filter) => (
          <NameFilter
            key={filter.name}
            filter={filter}
            values={view.filters[filter.name]!}
            onChange={(values) => go(addressWith(REPORT, query, { [filter.name]: values }))}
          />
        ))}
      </form>
      {aging && (
        <>
          <p class="basis soft">
            Open invoices as of <Time at={aging.asOf} />.
          </p>
          <Totals aging={aging} query={query} />
          <Ages aging={aging} query={query} />
          <Groups aging={aging} view={view} age={age} query={query} />
          <Download
            name={`truckroll-receivables-${today()}`}
            sheets={async () => [agingSheet(view, aging, age, await filtersInWords(REPORT.filters, view.filters))]}
          />
        </>
      )}
    </Page>
  );
}

function Totals({ aging: { ages }, query }: { aging: Aging; query: URLSearchParams }) {
  return (
    <dl class="tiles">
      {(
        [
          ['Open', 'TOTAL'],
          ['Not due', 'CURRENT'],
          ['Overdue', 'OVERDUE'],
        ] as const
      )
        .map(([title, age]) => ({ title, age, figures: figuresOf(ages, age) }))
        .map(({ title, age, figures }) => (
          <div key={title}>
            <dt>{title}</dt>
            <dd class="figure">
              <a href={addressWith(REPORT, query, { age: age === 'TOTAL' ? undefined : age }, ['records'])}>
                <TileFigure sums={figures} measure={BALANCE} />
              </a>
            </dd>
            <dd class="soft">
              {figureOf(figures, COUNT)} {figures[COUNT.key] === 1 ? 'invoice' : 'invoices'}
            </dd>
          </div>
        ))}
    </dl>
  );
}

function Ages({ aging: { ages }, query }: { aging: Aging; query: URLSearchParams }) {
  const rows = (Object.keys(AGES) as Age[]).map((age) => ({ age, figures: ages.get(age) ?? EMPTY, href: addressWith(REPORT, query, { age }) }));
  const total = ages.get('TOTAL') ?? EMPTY;
  return (
    <section aria-labelledby="by-age">
      <h2 id="by-age">By age</h2>
      <Bars
        title="Open balance by age"
        legend={[{ name: 'now', label: 'Open balance', total: figureOf(total, BALANCE) }]}
        bars={rows.map(({ age, figures, href }) => ({
          key: age,
          name: AGES[age],
          tick: AGES[age],
          value: figures[BALANCE.key] ?? null,
          text: `${AGES[age]}: ${figureOf(figures, BALANCE)}, ${figureOf(figures, COUNT)} invoices`,
          href,
        }))}
        format={(value) => shortFigure(value, 'money')}
        onOpen={focusHeading}
        table={{
          rows,
          rowKey: ({ age }) => age,
          columns: [
            {
              title: 'Age',
              cell: ({ age, href }) => (
                <a href={href} onClick={focusHeading}>
                  {AGES[age]}
                </a>
              ),
              total: 'Total',
            },
            ...REPORT.measures.map((measure) => ({
              title: measure.title,
              numeric: true,
              cell: ({ figures }: { figures: Figures }) => figureOf(figures, measure),
              total: figureOf(total, measure),
            })),
          ],
        }}
      />
    </section>
  );
}

type Group = Aging['groups'][number];

function Groups({ aging, view: { group }, age, query }: { aging: Aging; view: View; age: Age | undefined; query: URLSearchParams }) {
  const shown = age ?? 'TOTAL';
  const of = ({ ages }: Group): number => ages.get(shown)?.[BALANCE.key] ?? 0;
  const rows = rankedGroups(aging.groups, age);
  const most = Math.max(1, ...rows.map((row) => Math.abs(of(row))));
  const total = (at: Age | 'TOTAL'): string => figureOf(aging.ages.get(at) ?? EMPTY, BALANCE);
  const href = (value: string | undefined): string => addressWith(REPORT, query, { value, group: group.key, page: undefined }, ['records']);
  const figures = (at: Age | 'TOTAL', title: string): Column<Group> => ({
    title,
    numeric: true,
    sorts: ({ ages }) => (ages.get(at) ?? EMPTY)[BALANCE.key] ?? null,
    cell: ({ ages }) => figureOf(ages.get(at) ?? EMPTY, BALANCE),
    total: total(at),
  });
  const columns: Column<Group>[] = [
    {
      title: group.title,
      sorts: ({ label }) => groupName(group, label),
      cell: ({ value, label }) => (
        <a class="name" href={href(value ?? NONE)}>
          {groupName(group, label)}
        </a>
      ),
      total: <a href={href(undefined)}>Total</a>,
    },
    { title: 'Open balance, drawn', quiet: true, cell: (row) => <Length value={of(row)} most={most} /> },
    ...(age === undefined ? (Object.keys(AGES) as Age[]).map((each) => figures(each, AGES[each])) : []),
    figures(shown, age === undefined ? 'Open balance' : AGES[age]),
  ];
  return (
    <section aria-labelledby="groups" class="groups">
      <h2 id="groups">By {group.title.toLowerCase()}</h2>
      {rows.length === 0 ? (
        <div class="empty">
          <p>Nothing is open.</p>
        </div>
      ) : (
        <Ranked caption={`Open balance by ${group.title.toLowerCase()}, highest first`} columns={columns} rows={rows} rowKey={({ value }) => value ?? NONE} />
      )}
    </section>
  );
}
