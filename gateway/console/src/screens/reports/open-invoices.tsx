import type { InvoiceRecord } from '../../api/records.ts';
import { Page } from '../../parts/page.tsx';
import type { Column } from '../../parts/table.tsx';
import { Time, today } from '../../parts/time.tsx';
import { RARELY_MS, useResource } from '../../state/resource.ts';
import { route } from '../../state/route.ts';
import { useStore } from '../../state/store.ts';
import { ageIn, figuresOf, isOfAge, lateName, readAging } from './aging.ts';
import { AGES, OPEN_INVOICES as SOURCE, RECEIVABLES as REPORT } from './definitions.ts';
import { groupName } from './group-name.ts';
import { RecordsDownload, saveWorkbook } from './downloads.tsx';
import { Moment, SourceRecords, measuresOf } from './records.tsx';
import { chosenOf, openFacts, recordsSheet } from './sheets.ts';
import { readLines, readSource } from './sources.ts';
import { addressWith, valueIn, viewIn } from './view.ts';

const DUE: readonly Column<InvoiceRecord>[] = [
  { title: 'Due', cell: ({ due_at: at }) => <Moment at={at} /> },
  { title: 'Age', cell: ({ aging }) => aging && AGES[aging.bucket] },
];

/** The open invoices behind a balance: of one group or all, of one age or all. */
export function OpenInvoices() {
  const { query } = useStore(route);
  const view = viewIn(REPORT, query);
  const age = query.get('age') === 'OVERDUE' ? 'OVERDUE' : ageIn(query);
  const value = valueIn(query);
  const key = JSON.stringify([view.group.key, view.filters, age, query.get('value')]);
  const resource = useResource(
    `open ${key}`,
    async (signal) => {
      const [aging, { records, more }] = await Promise.all([readAging(view, signal), readSource(view, SOURCE, value, {}, signal)]);
      const of = value === undefined ? undefined : aging.groups.find((group) => group.value === value);
      return {
        asOf: aging.asOf,
        label: of?.label ?? value ?? null,
        figures: figuresOf((value === undefined ? aging.ages : of?.ages) ?? new Map(), age ?? 'TOTAL'),
        loaded: { records: records.filter((invoice) => age === undefined || isOfAge(invoice, age)), more },
      };
    },
    undefined,
    undefined,
    RARELY_MS,
  );
  const shown = resource.value;
  const name = shown && value !== undefined ? groupName(view.group, shown.label) : undefined;
  const parts = [REPORT.title, ...(name === undefined ? [] : [name]), ...(age === undefined ? [] : [lateName(age).toLowerCase()])];
  const download = async (asOf: string, onProgress: (count: number) => void): Promise<void> => {
    const lines = await readLines(view, SOURCE, value, {}, onProgress, (invoice) => age === undefined || isOfAge(invoice, age));
    await saveWorkbook(`truckroll-open-invoices-${today()}`, [
      recordsSheet('invoices', lines, measuresOf(REPORT, 'invoices'), openFacts(view, asOf, age, await chosenOf(view, name))),
    ]);
  };
  return (
    <Page
      title={parts.join(': ')}
      above={{ title: REPORT.title, href: addressWith(REPORT, query, { value: undefined, page: undefined }) }}
      live={[resource]}
      actions={shown && <RecordsDownload make={(onProgress) => download(shown.asOf, onProgress)} />}
    >
      {shown && (
        <>
          <p class="basis soft">
            Open invoices as of <Time at={shown.asOf} />.
          </p>
          <SourceRecords source={SOURCE} report={REPORT} loaded={shown.loaded} figures={shown.figures} overlapping={false} query={query} extra={DUE} />
        </>
      )}
    </Page>
  );
}
