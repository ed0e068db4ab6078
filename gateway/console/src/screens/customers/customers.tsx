import { useRef, useState } from 'preact/hooks';
import { readOwed, type Account } from '../../api/business.ts';
import { readList, type Listed } from '../../api/reports.ts';
import { Badge } from '../../parts/badge.tsx';
import { dollars } from '../../parts/money.ts';
import { Page } from '../../parts/page.tsx';
import { Failure, Loaded } from '../../parts/part.tsx';
import { SearchList } from '../../parts/search-list.tsx';
import { Table, type Column } from '../../parts/table.tsx';
import { place } from '../../parts/words.ts';
import { RARELY_MS, useResource, type Resource } from '../../state/resource.ts';
import { goInstead, places, route } from '../../state/route.ts';
import { searchable } from '../../state/search.ts';
import { useStore } from '../../state/store.ts';
import { Mail, Telephone } from './reach.tsx';

/** Customers that are listed at first, and more at each request. */
const STEP = 25;

/** Customers, found by anything that the API searches in them. */
export function Customers() {
  const { query } = useStore(route);
  const text = query.get('q') ?? '';
  const search = searchable(text);
  const [most, setMost] = useState(STEP);
  const list = useResource(
    `customers ${most} ${search ?? ''}`,
    (signal) => readList<Account>('accounts', { search, archived: 'false', limit: Math.min(100, most) }, most, signal),
    undefined,
    undefined,
    RARELY_MS,
  );
  const before = useRef<Listed<Account> | undefined>(undefined);
  if (list.value !== undefined) before.current = list.value;
  const ids = (list.value?.records ?? []).map(({ id }) => id);
  const owed = useResource(`owed ${ids.join()}`, (signal) => readOwed(ids, signal), undefined, undefined, RARELY_MS);
  const shown: Resource<Listed<Account>> = { ...list, value: list.value ?? before.current };
  return (
    <Page title="Customers">
      <SearchList
        label="Search customers"
        hint="Name, telephone, e-mail or address"
        text={text}
        ready={list.value !== undefined}
        onSearch={(next) => {
          setMost(STEP);
          goInstead(places.customers({ q: next }));
        }}
      >
        <p class="soft" role="status">
          {list.value && summary(list.value, search)}
        </p>
        <Loaded resource={shown} lines={8}>
          {({ records, more }) => (
            <>
              {records.length > 0 && <Table linked caption="Customers" columns={columns(owed.value)} rows={records} rowKey={({ id }) => id} />}
              {owed.problem && <Failure resource={owed} what="The balances" />}
              {more && (
                <p class="pages">
                  <button type="button" disabled={list.loading} onClick={() => setMost(most + STEP)}>
                    Show more
                  </button>
                </p>
              )}
            </>
          )}
        </Loaded>
      </SearchList>
    </Page>
  );
}

function summary({ records, more }: Listed<Account>, search: string | undefined): string {
  if (search === undefined) return records.length === 0 ? 'There are no customers yet.' : 'In the order in which they were added.';
  if (records.length === 0) return `No customer has “${search}” in name, telephone, e-mail or address.`;
  return `${more ? 'The first ' : ''}${records.length} found`;
}

function columns(owed: Awaited<ReturnType<typeof readOwed>> | undefined): Column<Account>[] {
  return [
    {
      title: 'Customer',
      cell: ({ id, name, company_name: company, do_not_service: refused }) => (
        <>
          <a class="name" href={places.customer(id)}>
            {name}
          </a>{' '}
          {refused && <Badge tone="bad">Do not service</Badge>}
          {company !== null && company !== name && <span class="soft below">{company}</span>}
        </>
      ),
    },
    { title: 'Place', cell: (account) => place(account) || <span class="soft">–</span> },
    { title: 'Telephone', cell: ({ phone }) => <Telephone number={phone} /> },
    { title: 'E-mail', cell: ({ email }) => <Mail address={email} /> },
    {
      title: 'Balance',
      numeric: true,
      cell: ({ id }) => {
        const of = owed?.get(id);
        if (of === undefined || of.open === 0) return <span class="soft">–</span>;
        return (
          <>
            {dollars(of.open)}
            {of.overdue > 0 && <span class="below bad">{dollars(of.overdue)} overdue</span>}
          </>
        );
      },
    },
  ];
}
