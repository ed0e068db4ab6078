// What help shows of the commands before any is loaded. A test compares it with what each command says.

export interface ListedCommand {
  readonly usage: string;
  readonly description: string;
}

export const COMMANDS: Readonly<Record<string, ListedCommand>> = {
  list: { usage: 'list', description: 'List records of a kind.' },
  get: { usage: 'get', description: 'Show one record.' },
  search: { usage: 'search [options] <words...>', description: 'Search records of every kind that can be searched.' },
  report: { usage: 'report', description: 'Print a report, in dollars.' },
  listen: { usage: 'listen [options]', description: 'Show events as they come, and send them on to a program on this machine.' },
  requests: { usage: 'requests [options]', description: 'List what API keys requested and how it was answered, newest first.' },
  sync: { usage: 'sync [options] <file>', description: 'Keep a copy of the company in a SQLite file.' },
  export: { usage: 'export [options] <folder>', description: 'Write the records of the company into files.' },
  webhooks: { usage: 'webhooks', description: 'Endpoints that receive events.' },
  mcp: { usage: 'mcp', description: 'Serve an assistant that speaks the Model Context Protocol, over standard input and output.' },
  login: { usage: 'login', description: 'Keep the address of an installation and a credential in a profile.' },
  logout: { usage: 'logout', description: 'Forget the credential of a profile.' },
  profiles: { usage: 'profiles', description: 'List the profiles that were logged in.' },
  completion: { usage: 'completion <shell>', description: 'Print a script that completes commands in bash, zsh or fish.' },
};
