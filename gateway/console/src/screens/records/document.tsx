// What records look like: the parties, facts, sums and events of a document, and its JSON for developers.
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { BodyText } from '../../parts/body-text.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { readRecord } from '../../api/reports.ts';
import type { Account } from '../../api/business.ts';
import { Loaded } from '../../parts/part.tsx';
import { ShowAll } from '../../parts/show-all.tsx';
import { Day, Time } from '../../parts/time.tsx';
import { useResource } from '../../state/resource.ts';
import { places } from '../../state/route.ts';
import { Mail, Telephone } from '../customers/reach.tsx';

export type Fact = readonly [title: string, value: ComponentChildren];

export function Facts({ of }: { of: readonly Fact[] }) {
  return (
    <dl class="document-facts">
      {of
        .filter(([, value]) => value !== undefined && value !== null && value !== false && value !== '')
        .map(([title, value]) => (
          <div key={title}>
            <dt>{title}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}

/** The customer's name, address and ways to reach them. */
export function Party({ title, account: { id, name } }: { title: string; account: { id: string; name: string } }) {
  const account = useResource(`account ${id}`, (signal) => readRecord<Account>('accounts', id, signal), undefined, undefined, 300_000);
  return (
    <section class="party" aria-label={title}>
      <h2>{title}</h2>
      <a class="name" href={places.customer(id)}>
        {name}
      </a>
      <Loaded resource={account} lines={2}>
        {({ billing_address: address, phone, email }) => (
          <>
            {address !== null && <span class="below">{address.formatted}</span>}
            {phone !== null && (
              <span class="below">
                <Telephone number={phone} />
              </span>
            )}
            {email !== null && (
              <span class="below">
                <Mail address={email} />
              </span>
            )}
          </>
        )}
      </Loaded>
    </section>
  );
}

export interface Sum {
  readonly title: ComponentChildren;
  readonly value: string;
  readonly strong?: boolean;
}

export function Sums({ of }: { of: readonly Sum[] }) {
  return (
    <dl class="sums">
      {of.map(({ title, value, strong }, index) => (
        <div key={index} class={strong ? 'strong' : undefined}>
          <dt>{title}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

export interface Happening {
  readonly at: string | null;
  readonly what: ComponentChildren;
  /** Whether the time of day says nothing. */
  readonly day?: boolean;
}

/** What is shown of a timeline at first. */
const FIRST = 10;

/** What happened, newest first, below a line that says what is missing. */
export function Timeline({ of, children }: { of: readonly Happening[]; children?: ComponentChildren }) {
  const [all, setAll] = useState(false);
  const known = of.filter((each): each is Happening & { at: string } => each.at !== null).sort((a, b) => b.at.localeCompare(a.at));
  return (
    <section aria-labelledby="timeline">
      <h2 id="timeline">What happened</h2>
      {children}
      {known.length > 0 && (
        <ol class="timeline">
          {known.slice(0, all ? undefined : FIRST).map(({ at, what, day }, index) => (
            <li key={index}>
              <span>{what}</span>
              {day ? <Day at={at} /> : <Time at={at} />}
            </li>
          ))}
        </ol>
      )}
      {!all && known.length > FIRST && <ShowAll count={known.length} first={FIRST} onShow={() => setAll(true)} />}
    </section>
  );
}

/** The id, the request that reads the record, and the record as the API returns it. */
export function Developer({ path, record }: { path: string; record: { readonly id: string } }) {
  const request = `/v1/${path}/${record.id}`;
  return (
    <details class="developer">
      <summary>Developer</summary>
      <dl>
        <div>
          <dt>Id</dt>
          <dd>
            <code>{record.id}</code> <CopyButton text={record.id} what="the id" />
          </dd>
        </div>
        <div>
          <dt>Request</dt>
          <dd>
            <code>GET {request}</code> <CopyButton text={request} what="the path" />
          </dd>
        </div>
      </dl>
      <BodyText what="record" text={JSON.stringify(record, null, 2)} />
    </details>
  );
}
