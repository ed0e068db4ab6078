import type { ComponentChildren } from 'preact';
import { RECEIVABLES, reportNamed } from './definitions.ts';
import { OpenInvoices } from './open-invoices.tsx';
import { Receivables } from './receivables.tsx';
import { Records } from './records.tsx';
import { Report } from './report.tsx';
import { Reports } from './reports.tsx';

/** The screens below #/reports; `otherwise` is shown if the address leads nowhere. */
export function ReportsSection({ path, otherwise }: { path: readonly string[]; otherwise: ComponentChildren }) {
  const [name, part, id] = path;
  if (name === undefined) return <Reports />;
  if (name === RECEIVABLES.name && part === undefined) return <Receivables />;
  if (name === RECEIVABLES.name && part === 'records' && id === undefined) return <OpenInvoices />;
  const report = reportNamed(name);
  if (report !== undefined && part === undefined) return <Report report={report} />;
  if (report !== undefined && part === 'records' && id === undefined) return <Records report={report} />;
  return <>{otherwise}</>;
}
