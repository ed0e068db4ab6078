// Every process of the system, in the order in which databases are migrated: integrations has the audit trail that the others write
// to. Scripts, tests, metrics and the chart are loops over this list.

export interface Component {
  /** Name of the image, of the folder in services/ (the gateway's is gateway/), and value of the metrics' label `component`. */
  readonly name: string;
  /** Name in the chart's values and in Kubernetes, where it differs from `name`. */
  readonly chartName?: string;
  /** Default of PORT; the default of METRICS_PORT is 1000 higher. */
  readonly port: number;
  /** Owns the PostgreSQL schema of its name, and serves rpcs of the proto package of its name. */
  readonly postgresql?: true;
  readonly redis?: true;
  readonly kafka?: true;
  /** Sends messages to people: SMTP_URL, SMS_URL or NOTIFICATION_FOLDER. */
  readonly notifies?: true;
  /** Applies events of others to its own tables, and keeps as dead letters those that it could not apply. */
  readonly consumes?: true;
  /** Publishes records of which others keep read models: `truckroll catch-up publish`. */
  readonly publishes?: true;
  /** Owners whose <NAME>_ADDRESS it is given. */
  readonly calls?: readonly string[];
  /** Variables that its Secret must have, and those that it may have. */
  readonly secretKeys: readonly string[];
  readonly optionalKeys?: readonly string[];
}

const LISTED = [
  {
    name: 'integrations',
    port: 50054,
    postgresql: true,
    redis: true,
    kafka: true,
    notifies: true,
    consumes: true,
    secretKeys: ['WEBHOOK_SECRET_KEYS', 'CALLER_CREDENTIALS'],
    optionalKeys: ['SMTP_URL'],
  },
  {
    name: 'scheduling',
    port: 50051,
    postgresql: true,
    kafka: true,
    notifies: true,
    publishes: true,
    secretKeys: ['CALLER_CREDENTIALS'],
    optionalKeys: ['SMTP_URL', 'SMS_TOKEN'],
  },
  { name: 'billing', port: 50052, postgresql: true, kafka: true, consumes: true, publishes: true, secretKeys: ['CALLER_CREDENTIALS'] },
  { name: 'reporting', port: 50053, postgresql: true, kafka: true, consumes: true, secretKeys: ['CALLER_CREDENTIALS'] },
  { name: 'webhook-dispatcher', chartName: 'dispatcher', port: 50055, kafka: true, calls: ['integrations'], secretKeys: ['CALL_CREDENTIAL'] },
  {
    name: 'gateway',
    port: 8080,
    redis: true,
    calls: ['scheduling', 'billing', 'reporting', 'integrations'],
    secretKeys: ['CURSOR_KEYS', 'IDENTITY_KEYS', 'CALL_CREDENTIAL'],
  },
] as const satisfies readonly Component[];

export type ComponentName = (typeof LISTED)[number]['name'];
export type Owner = Extract<(typeof LISTED)[number], { postgresql: true }>['name'];

export const components: readonly (Component & { readonly name: ComponentName })[] = LISTED;

/** The services that store data, with one schema each. */
export const owners = LISTED.filter((component) => 'postgresql' in component).map(({ name }): Owner => name);

/** What owners are given or asked under, such as `BILLING_ADDRESS`. */
export function addressVariable(owner: string): string {
  return `${owner.toUpperCase()}_ADDRESS`;
}

/** What names the PostgreSQL of one owner where owners do not share a server, such as `BILLING_DATABASE_URL`. */
export function databaseVariable(owner: string, kind: 'URL' | 'SESSION_URL' = 'URL'): string {
  return `${owner.toUpperCase()}_DATABASE_${kind}`;
}
