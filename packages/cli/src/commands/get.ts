import type { Command } from 'commander';
import { KINDS } from '../gen/catalog.ts';
import { amountsOption, printerOf, valueAt, type JsonRecord, type Shown } from '../output.ts';
import type { ApiSession } from '../session.ts';
import { Dollars, card } from '../terminal/table.ts';

export function register(program: Command, session: ApiSession): void {
  const get = program.command('get').description('Show one record.');
  for (const [name, { get: path, about, fields }] of Object.entries(KINDS)) {
    if (path === undefined) continue;
    const parameter = /\{(\w+)\}/.exec(path)?.[1];
    const command = get.command(name).description(path.startsWith('/v1/') && parameter !== undefined ? `One of ${name}.` : `${about}.`);
    if (parameter !== undefined) command.argument(`<${parameter}>`, parameter === 'id' ? 'id, as lists show it' : parameter);
    command
      .option('--fields <fields...>', 'only these fields, such as number or account.name')
      .addOption(amountsOption())
      .action(async (...given: unknown[]) => {
        const options = (parameter === undefined ? given[0] : given[1]) as Shown;
        const input = { ...(parameter !== undefined && { path: { [parameter]: given[0] as string } }), signal: session.io.signal };
        const { data } = await session.client().get(path as '/v1/company', input as object);
        const record = data as unknown as JsonRecord;
        if (session.json || session.csv || options.fields !== undefined) {
          const printer = printerOf(session, options, fields, fields, '');
          printer.page([record]);
          printer.end();
        } else session.say(card(cardOf(record, fields, options)));
      });
  }
}

function cardOf(record: JsonRecord, fields: readonly string[], { amounts }: Shown): JsonRecord {
  const dollars = amounts === 'dollars';
  return Object.fromEntries(
    fields.map((path) => {
      const value = valueAt(record, path);
      const cents = dollars && path.endsWith('_cents') && typeof value === 'number';
      return [dollars ? path.replace(/_cents$/, '') : path, cents ? new Dollars(value) : value];
    }),
  );
}
