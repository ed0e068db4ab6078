// `truckroll cells` (docs/adr/0029): asks every cell what it serves, and compares what they say.
import { ApiError, isRefusedCaller, owners, type Owner } from '@truckroll/contract';
import { CompanyAdminServiceService, type CompanyAccount } from '@truckroll/contract/gen/integrations/v1/admin';
import { CellAdminServiceService, type DescribeCellResponse } from '@truckroll/contract/gen/integrations/v1/cells';
import { EXIT, Failure } from '@truckroll/integrator-cli/terminal/failure';
import { table, type Columns } from '@truckroll/integrator-cli/terminal/table';
import type { Command } from 'commander';
import { dropStatement, megabytes } from '../cells/slots.ts';
import { beginSwitch, endSwitch, type CellCalls } from '../cells/switch.ts';
import { beingMoved, companyIdOf } from '../company-id.ts';
import type { Session } from '../session.ts';

/** Time in ms for which a service is waited for. */
const ANSWER_MS = 3000;

const EXAMPLES = `
The addresses of the first cell are those of the other commands, and CELL its name. CELLS has those of the others, as for the gateways:
  CELLS=west/integrations=…:50054,west/scheduling=…:50051,west/billing=…:50052,west/reporting=…:50053
A company that two cells serve, or none, is listed below the table. After you have found out which cell has its newest records, settle it.

Examples:
  truckroll cells
  truckroll cells settle 7d1c… --in west`;

interface Cell {
  readonly name: string;
  readonly said: DescribeCellResponse | undefined;
  readonly away: readonly Owner[];
  readonly faults: readonly string[];
  readonly session: Session;
}

export function register(program: Command, session: Session): void {
  const cells = program
    .command('cells')
    .description('See the cells of this installation: which answer, and which companies live where.')
    .addHelpText('after', EXAMPLES)
    .action(() => withCells(session, async (found) => list(session, found)));
  cells
    .command('settle')
    .argument('<company>', 'id of the company')
    .requiredOption('--in <cell>', 'the cell that is to serve the company, with the rows that it has')
    .description('Say which cell serves a company, after one was restored. Copies nothing. Others that have its rows refuse to change them.')
    .action((company: string, { in: cell }: { in: string }) => withCells(session, (found) => settle(session, found, company, cell)));
}

/** Looks at all cells, and closes what was opened for that after `work`. */
async function withCells<T>(session: Session, work: (cells: readonly Cell[]) => Promise<T>): Promise<T> {
  const sessions = session.cells();
  try {
    return await work(await Promise.all([...sessions].map(([name, own]) => look(name, own))));
  } finally {
    for (const own of sessions.values()) if (own !== session) own.close();
  }
}

function list(session: Session, cells: readonly Cell[]): void {
  const faults = [...faultsOf(cells), ...contradictions(cells), ...slotsLeft(cells)];
  if (cells.some(({ away }) => away.length > 0)) session.exitCode = EXIT.unreachable;
  else if (faults.length > 0) session.exitCode = EXIT.refused;
  const rows = cells.map(({ name, said, away }) => ({
    cell: name,
    companies: said?.companies.length ?? null,
    switching: said?.elsewhere.filter(({ cell }) => cell == null).length ?? null,
    wal_kept: said === undefined ? null : sum(said.slots.map(({ kept_bytes: bytes }) => bytes)),
    version: said?.version ?? null,
    away,
  }));
  session.print({ cells: rows, faults }, [table(rows, COLUMNS, ''), ...faults].join('\n'));
}

interface Row {
  readonly cell: string;
  readonly companies: number | null;
  readonly switching: number | null;
  readonly wal_kept: number | null;
  readonly version: string | null;
  readonly away: readonly Owner[];
}

const COLUMNS: Columns<Row> = {
  CELL: ({ cell }) => cell,
  COMPANIES: ({ companies }) => companies,
  SWITCHING: ({ switching }) => switching,
  'WAL KEPT': ({ wal_kept: bytes }) => (bytes === null ? null : megabytes(bytes)),
  VERSION: ({ version }) => version,
  'NO ANSWER FROM': ({ away }) => away.join(', ') || null,
};

async function settle(session: Session, found: readonly Cell[], given: string, name: string): Promise<void> {
  const id = companyIdOf(given);
  const silent = found.find(({ said }) => said === undefined);
  if (silent !== undefined) throw new Failure(`The cell ${silent.name} does not answer: each cell must learn where the company lives.`, EXIT.unreachable);
  const faults = [...faultsOf(found), ...found.flatMap(({ said }) => (said!.cell == null ? ['A cell has no name: set CELL of its integrations.'] : []))];
  if (faults.length > 0) throw new Failure(['Nothing was changed. Correct this first:', ...faults].join('\n  '), EXIT.refused);
  const target = found.find((cell) => cell.name === name);
  if (target === undefined) throw new Failure(`There is no cell ${name}: see them with \`truckroll cells\`.`, EXIT.refused);
  if (found.some(({ said }) => said!.moving.includes(id))) throw beingMoved(id);
  const company = await rowsIn(target, id);
  if (company === undefined) throw new Failure(`The cell ${name} does not know the company ${id}: it has no rows of it.`, EXIT.refused);
  const { freezeIn } = await import('../moving/freeze.ts');
  const frozen: string[] = [];
  for (const cell of found) {
    if (cell === target || (await rowsIn(cell, id)) === undefined) continue;
    // Before the switch, so that nothing is changed or sent twice.
    session.note(`freezing the company in the cell ${cell.name}`);
    await freezeIn(cell.session, id);
    frozen.push(cell.name);
  }
  const ordered = [target, ...found.filter((cell) => cell !== target)].map(
    (cell): CellCalls => ({ name: cell.name, calls: cell.session.channel('integrations').client(CellAdminServiceService) }),
  );
  try {
    await beginSwitch(id, ordered);
    await endSwitch(id, ordered, ordered[0]!);
  } catch (error) {
    throw session.away('integrations', error);
  }
  const said = [
    `The company ${id} is served by the cell ${name}.`,
    ...(frozen.length > 0 ? [`It stays frozen in ${frozen.join(', ')}, so that what is left of it there is not changed, and sends nothing.`] : []),
    ...(company.frozen_at == null ? [] : [`It is frozen in ${name} too: run \`truckroll company unfreeze\` with the addresses of that cell.`]),
  ];
  session.print({ company_id: id, cell: name, frozen_in: frozen }, said.join('\n'));
}

async function rowsIn({ session }: Cell, id: string): Promise<CompanyAccount | undefined> {
  return (await session.client('integrations', CompanyAdminServiceService).listCompanies({ id })).companies[0];
}

async function look(name: string | undefined, session: Session): Promise<Cell> {
  const silent = new Set<Owner>();
  const faults: string[] = [];
  let said: DescribeCellResponse | undefined;
  const asked = owners.map(async (owner) => {
    try {
      if (owner !== 'integrations') return await session.channel(owner).check(ANSWER_MS);
      said = await session.channel(owner).client(CellAdminServiceService).describeCell({}, { deadlineMs: ANSWER_MS });
    } catch (error) {
      if (isRefusedCaller(error)) faults.push(`${owner} of ${name ?? 'this cell'} does not accept CALL_CREDENTIAL.`);
      else if (!(error instanceof ApiError) || error.status !== 503) faults.push(`${owner} of ${name ?? 'this cell'}: ${(error as Error).message}`);
      silent.add(owner);
    }
  });
  await Promise.all(asked);
  const own = said?.cell ?? undefined;
  if (said !== undefined && name !== undefined && own !== name)
    faults.push(`The cell ${name} is called ${own ?? 'nothing'} by its integrations: set CELL there.`);
  return { name: own ?? name ?? '-', said, away: owners.filter((owner) => silent.has(owner)), faults, session };
}

/** What each cell says is wrong with it, and names that two cells have. */
function faultsOf(cells: readonly Cell[]): string[] {
  const named = Map.groupBy(
    cells.flatMap(({ said }) => said?.cell ?? []),
    (name) => name,
  );
  const twice = [...named].flatMap(([name, { length }]) => (length < 2 ? [] : `${length} cells are called ${name} by their integrations: set CELL there.`));
  return [...cells.flatMap(({ faults }) => faults), ...twice];
}

/** Companies that no cell or several cells serve, as far as the cells have answered. */
function contradictions(cells: readonly Cell[]): string[] {
  const said = cells.flatMap(({ name, said: answer }) => (answer === undefined ? [] : [{ name, ...answer }]));
  const served = said.flatMap(({ name, companies }) => companies.map((id) => ({ id, name })));
  const homes = Map.groupBy(served, ({ id }) => id);
  const several = [...homes].flatMap(([id, found]) =>
    found.length < 2 ? [] : `The company ${id} is served by ${found.map(({ name }) => name).join(' and ')}.`,
  );
  if (said.length < cells.length) return several;
  const lost = new Set(said.flatMap(({ elsewhere }) => elsewhere.flatMap(({ company_id: id }) => (homes.has(id) ? [] : id))));
  return [
    ...several,
    ...[...lost].map((id) => `The company ${id} is served by no cell: if a move of it was interrupted, run \`truckroll company move\` again.`),
  ];
}

/** Slots that no move needs, for which PostgreSQL keeps WAL until its disk is full. */
function slotsLeft(cells: readonly Cell[]): string[] {
  return cells.flatMap(({ name, said }) =>
    (said?.slots ?? []).flatMap((slot) =>
      slot.needed
        ? []
        : `In the cell ${name}, ${megabytes(slot.kept_bytes)} of WAL is kept for a slot that no move needs: run ${dropStatement(slot.name)} there.`,
    ),
  );
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);
