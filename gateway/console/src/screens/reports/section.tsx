import type { ComponentChildren } from 'preact';
import type { RecordKind } from '../../api/records.ts';
import { RECEIVABLES, reportNamed } from './definitions.ts';
import { OpenInvoices } from './open-invoices.tsx';
import { Receivables } from './receivables.tsx';
import { RecordScreen } from './record.tsx';
import { Records } from './records.tsx';
import { Report } from './report.tsx';
import { Reports } from './reports.tsx';
import { PATHS } from './sources.ts';

/** The screens below #/reports; `otherwise` is shown if the address leads nowhere. */
export function ReportsSection({ path, otherwise }: { path: readonly string[]; otherwise: ComponentChildren }) {
  const [name, part, id, ...more] = path;
  if (name === undefined) return <Reports />;
  if (name === 'records' && part !== undefined && part in PATHS && id !== undefined && more.length === 0)
    return <RecordScreen kind={part as RecordKind} id={id} />;
  if (name === RECEIVABLES.name && part === undefined) return <Receivables />;
  if (name === RECEIVABLES.name && part === 'records' && id === undefined) return <OpenInvoices />;
  const report = reportNamed(name);
  if (report !== undefined && part === undefined) return <Report report={report} />;
  if (report !== undefined && part === 'records' && id === undefined) return <Records report={report} />;
  return <>{otherwise}</>;
}
