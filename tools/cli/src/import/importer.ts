import { ApiError, type Resource } from '@truckroll/contract';
import { ImportServiceService, type LineProblem } from '@truckroll/contract/gen/records/v1/records';
import { EXIT, Failure } from '@truckroll/integrator-cli/terminal/failure';
import { onOneLine } from '@truckroll/integrator-cli/terminal/printable';
import { createProgress } from '@truckroll/integrator-cli/terminal/progress';
import type { Session } from '../session.ts';
import type { Batch, Unsendable } from './lines.ts';
import { Repeats } from './repeats.ts';
import { deliver, isUnimplemented, type ImportCall } from './send.ts';
import { addAnswer, noTotals, recordsOf, type Totals } from './totals.ts';

export interface Import {
  readonly companyId: string;
  /** Report what would happen to each line, without importing. */
  readonly dryRun?: boolean;
  readonly resource: Resource;
  /** The name that bad lines are reported under: `invoices.ndjson`. */
  readonly name: string;
  /** In the unit of the batches' readBytes; undefined if unknown. */
  readonly total: number | undefined;
  batches(unsendable: Unsendable): AsyncIterable<Batch>;
}

export class NotImported extends Failure {}

/** Sends all batches and reports the results. Throws Failure if the owner is unavailable for long, or NotImported. */
export async function importRecords(session: Session, work: Import): Promise<Totals> {
  const { resource, companyId } = work;
  const totals = noTotals(resource.path);
  const progress = createProgress(session.io, resource.path.padEnd(20), 'records', session.json);
  const report = (problem: LineProblem): void => {
    progress.clear();
    session.note(problemText(session, work.name, problem));
  };
  const repeats = new Repeats();
  const batches = work.batches((line, code, message) => {
    totals.refused += 1;
    report({ line, field: '', code, message });
  });
  try {
    const delivered = deliver(batches, {
      call: callOf(session, work),
      companyId,
      path: resource.path,
      signal: session.io.signal,
      onWaiting() {
        progress.clear();
        session.note(`${resource.owner} does not answer; trying again for a minute.`);
      },
    });
    for await (const { batch, answer } of delivered) {
      addAnswer(totals, answer);
      answer.problems.forEach(report);
      for (const problem of repeats.of(batch, answer)) {
        totals.repeated += 1;
        report(problem);
      }
      progress.update(recordsOf(totals), batch.readBytes, work.total);
    }
  } catch (error) {
    if (refusesPath(error)) throw new NotImported(`${work.name}: ${resource.owner} does not import ${resource.path}.`, EXIT.refused, error);
    if (work.dryRun === true && isUnimplemented(error))
      throw new Failure(`${resource.owner} runs a release without dry runs: upgrade it, or leave --dry-run out.`, EXIT.refused, error);
    throw session.away(resource.owner, error);
  } finally {
    progress.end();
  }
  return totals;
}

function callOf(session: Session, { resource, dryRun }: Import): ImportCall {
  const service = session.channel(resource.owner).client(ImportServiceService);
  if (dryRun !== true) return service.import;
  return async function* (requests, options) {
    async function* wrapped() {
      for await (const batch of requests) yield { batch };
    }
    for await (const { outcome } of service.checkImport(wrapped(), options)) if (outcome != null) yield outcome;
  };
}

function refusesPath(error: unknown): boolean {
  return error instanceof ApiError && error.status === 400 && error.details.some((detail) => detail.field === 'path');
}

function problemText(session: Session, name: string, { line, field, code, message }: LineProblem): string {
  if (session.json) return JSON.stringify({ file: name, line, field, code, message });
  return onOneLine(`${name}:${line} ${field === '' ? '' : `${field}: `}${message}`);
}
