// What help shows of the commands before any is loaded. A test compares it with what each command says.

export interface Listed {
  readonly usage: string;
  readonly description: string;
}

export const COMMANDS: Readonly<Record<string, Listed>> = {
  audit: { usage: 'audit [options]', description: 'See who did what, in one company or in all of them, newest first.' },
  'catch-up': { usage: 'catch-up [options] [task]', description: 'Show how far services have processed stored records, or process them again.' },
  cells: { usage: 'cells', description: 'See the cells of this installation: which answer, and which companies live where.' },
  company: { usage: 'company', description: 'Companies and their settings.' },
  'dead-letters': { usage: 'dead-letters|parked', description: 'See events that services could not apply, and apply them again.' },
  demo: { usage: 'demo [options]', description: 'Create a company with generated records, a user, an API key and a user token.' },
  endpoints: { usage: 'endpoints [options]', description: 'List the health of all companies’ webhook endpoints, worst first.' },
  export: { usage: 'export [options] <folder>', description: 'Write a company’s records into files.' },
  import: { usage: 'import [options] <files...>', description: 'Import records into a company.' },
  intake: { usage: 'intake', description: 'Record service requests and interactions with customers.' },
  key: { usage: 'key', description: 'API keys: each gives access to one company and belongs to one of its users.' },
  listen: { usage: 'listen [options]', description: 'Receive webhooks on this machine, verify and print them.' },
  migrate: { usage: 'migrate [options]', description: 'Migrate the schemas of all services to this version.' },
  person: { usage: 'person', description: 'People in the records of a company.' },
  probe: { usage: 'probe [options]', description: 'Check from outside whether an installation works.' },
  rebuild: { usage: 'rebuild <service>', description: "Rebuild a service's read models of other services' records from their topics." },
  report: { usage: 'report [options] <name>', description: 'Print a report of a company.' },
  reproject: {
    usage: 'reproject [path]',
    description: 'Reproject records that an older version of the rules has written.',
  },
  restored: {
    usage: 'restored [options]',
    description: 'After PostgreSQL was restored to an earlier moment: publish all records again, and remove lost ones from read models.',
  },
  simulate: { usage: 'simulate [options]', description: 'Simulate a working day of a demo company.' },
  sync: { usage: 'sync [options] <file>', description: 'Keep a copy of a company in a SQLite file.' },
  token: { usage: 'token [options]', description: 'Print a user token of the development issuer.' },
  trace: { usage: 'trace <request id>', description: 'Follow one request through the logs of all components.' },
  user: { usage: 'user', description: 'Users of a company, identified by API keys and user tokens.' },
  verify: {
    usage: 'verify [options]',
    description:
      "Compare reporting's read models with the records that they follow, reports with their sources, and all records with the current rules; print the differences.",
  },
};

/** Current names of commands that the previous release named otherwise. */
export const FORMER_NAMES: Readonly<Record<string, string>> = { parked: 'dead-letters', publish: 'catch-up' };
