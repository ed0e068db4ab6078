// What help shows of the commands before any is loaded. A test compares it with what each command says.

export interface Listed {
  readonly usage: string;
  readonly description: string;
}

export const COMMANDS: Readonly<Record<string, Listed>> = {
  audit: { usage: 'audit [options]', description: 'See who did what, in one company or in all of them, newest first.' },
  company: { usage: 'company', description: 'Companies and their settings.' },
  'dead-letters': { usage: 'dead-letters|parked', description: 'See events that services could not apply, and apply them again.' },
  demo: { usage: 'demo [options]', description: 'Make a company with made-up records, a user, an API key and a user token.' },
  endpoints: { usage: 'endpoints [options]', description: 'See how the webhook endpoints of all companies fare, worst first.' },
  export: { usage: 'export [options] <folder>', description: 'Write a company’s records into files.' },
  import: { usage: 'import [options] <files...>', description: 'Import records into a company.' },
  intake: { usage: 'intake', description: 'Record what customers ask for, and how the company talks with them.' },
  key: { usage: 'key', description: 'API keys: each opens one company and is linked to one of its users.' },
  listen: { usage: 'listen [options]', description: 'Receive webhooks on this machine, verify and print them.' },
  migrate: { usage: 'migrate [options]', description: 'Bring the schemas of all services to what this version needs.' },
  probe: { usage: 'probe [options]', description: 'Ask an installation from outside whether it serves.' },
  publish: { usage: 'publish <service>', description: 'Publish again every record of a service that other services keep read models of.' },
  rebuild: { usage: 'rebuild <service>', description: "Build a service's read models of the other services' records again, from the topics that hold them." },
  report: { usage: 'report [options] <name>', description: 'Print a report of a company.' },
  reproject: {
    usage: 'reproject [path]',
    description: 'Project records anew from what is stored of them, where an older version of the rules has written them.',
  },
  restored: {
    usage: 'restored [options]',
    description: 'After PostgreSQL was restored to an earlier moment: publish everything anew, and remove what is gone from read models.',
  },
  simulate: { usage: 'simulate [options]', description: 'Play a working day on a demo company.' },
  sync: { usage: 'sync [options] <file>', description: 'Keep a copy of a company in a SQLite file.' },
  token: { usage: 'token [options]', description: 'Print a user token of the development issuer.' },
  trace: { usage: 'trace <request id>', description: 'Follow one request through the logs of all components.' },
  user: { usage: 'user', description: 'The people whose identity API keys and user tokens carry.' },
  verify: {
    usage: 'verify [options]',
    description:
      "Compare reporting's read models with the records that they follow, reports with what they are made of, and all records with the rules of now, and print what differs.",
  },
};

/** Current names of commands that the previous release named otherwise. */
export const FORMER_NAMES: Readonly<Record<string, string>> = { parked: 'dead-letters' };
