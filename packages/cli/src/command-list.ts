// What help shows of the commands before any is loaded. A test compares it with what each command says.

export interface Listed {
  readonly usage: string;
  readonly description: string;
}

export const COMMANDS: Readonly<Record<string, Listed>> = {
  list: { usage: 'list', description: 'List records of a kind.' },
  get: { usage: 'get', description: 'Show one record.' },
  search: { usage: 'search [options] <words...>', description: 'Search records of every kind that can be searched.' },
  report: { usage: 'report', description: 'Print a report, in dollars.' },
  listen: { usage: 'listen [options]', description: 'Show events as they come, and send them on to a program on this machine.' },
};
