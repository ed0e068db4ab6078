import type { ComponentChildren } from 'preact';
import type { FormResponse, Invoice, Job, Payment, Visit } from '../../api/business.ts';
import type { RecordOf } from '../../api/records.ts';
import { readRecord } from '../../api/reports.ts';
import { Page } from '../../parts/page.tsx';
import { Failure, Loaded } from '../../parts/part.tsx';
import { useResource } from '../../state/resource.ts';
import { session } from '../../state/session.ts';
import { FormDocument } from './form.tsx';
import { InvoiceDocument } from './invoice.tsx';
import { JobDocument } from './job.tsx';
import { PaymentDocument, RefundDocument } from './payment.tsx';
import { VisitDocument } from './visit.tsx';

interface Kind {
  readonly one: string;
  readonly path: string;
  readonly document: (record: unknown) => ComponentChildren;
}
/** The API's description says what a path returns. */
const kind = <T,>(one: string, path: string, document: (record: T) => ComponentChildren): Kind => ({ one, path, document: (record) => document(record as T) });

/** By the part of the address that names them. */
const KINDS: Readonly<Record<string, Kind>> = {
  invoices: kind<Invoice>('Invoice', 'invoices', (record) => <InvoiceDocument record={record} />),
  payments: kind<Payment>('Payment', 'payments', (record) => <PaymentDocument record={record} />),
  refunds: kind<RecordOf['refunds']>('Refund', 'refunds', (record) => <RefundDocument record={record} />),
  jobs: kind<Job>('Job', 'jobs', (record) => <JobDocument record={record} />),
  'form-responses': kind<FormResponse>('Form', 'form-responses', (record) => <FormDocument record={record} />),
  visits: kind<Visit>('Visit', 'job-appointments', (record) => <VisitDocument record={record} />),
};

interface Given {
  kind: string;
  id: string;
  /** Shown if there is no such kind. */
  otherwise: ComponentChildren;
}

/** One record, as the document that it is. */
export function RecordScreen({ kind: name, id, otherwise }: Given) {
  const of = Object.hasOwn(KINDS, name) ? KINDS[name] : undefined;
  return of === undefined ? <>{otherwise}</> : <Document of={of} id={id} />;
}

function Document({ of: { one, path, document }, id }: { of: Kind; id: string }) {
  const resource = useResource(`record ${path} ${id}`, (signal) => readRecord<unknown>(path, id, signal));
  const { value, problem } = resource;
  if (value !== undefined) {
    return (
      <>
        {problem && <Failure resource={resource} />}
        {document(value)}
      </>
    );
  }
  if (problem?.status === 404 || problem?.status === 400) {
    return (
      <Page title={`No such ${one.toLowerCase()}`}>
        <p>{session.value.me?.company.name} has no such record. If a colleague sent you the link, it may be of another company.</p>
      </Page>
    );
  }
  return (
    <Page title={one}>
      <Loaded resource={resource} lines={8}>
        {() => null}
      </Loaded>
    </Page>
  );
}
