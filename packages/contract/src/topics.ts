// Kafka topics between services (docs/reference/topics.md). The publishing service creates a topic; consumers only name it.

/** A topic of events keeps each message for some days; a topic of state keeps the latest message of each key forever; `all` keeps everything. */
export interface TopicDefinition {
  readonly name: string;
  readonly partitions: number;
  readonly keeps: { readonly days: number } | 'latest' | 'all';
}

const state = (name: string): TopicDefinition => ({ name, partitions: 6, keeps: 'latest' });
const events = (name: string): TopicDefinition => ({ name, partitions: 12, keeps: { days: 14 } });
const everything = (name: string): TopicDefinition => ({ name, partitions: 1, keeps: 'all' });

export const topics = Object.freeze({
  /** truckroll.integrations.v1.Company settings by company id. */
  companies: state('truckroll.integrations.companies'),
  /** truckroll.events.v1.AuditEntry by company id, or `<company>/<kind>/<id>`: deleted companies and erased people, which a restored database erases again (docs/adr/0024). */
  erasures: everything('truckroll.integrations.erasures'),
  /** truckroll.events.v1.Name by `<company>/<kind>/<id>`. */
  names: state('truckroll.scheduling.names'),
  /** truckroll.scheduling.v1.Job by `<company>/<id>`. */
  jobs: state('truckroll.scheduling.jobs'),
  /** truckroll.scheduling.v1.Assignment by `<company>/<id>`; a removed one is deleted. */
  assignments: state('truckroll.scheduling.assignments'),
  /** truckroll.billing.v1.Invoice by `<company>/<id>`. */
  invoices: state('truckroll.billing.invoices'),
  /** truckroll.billing.v1.Payment by `<company>/<id>`. */
  payments: state('truckroll.billing.payments'),
  /** truckroll.billing.v1.Refund by `<company>/<id>`. */
  refunds: state('truckroll.billing.refunds'),
  /** truckroll.events.v1.Watermark by service: the time up to which everything is published (docs/adr/0006). */
  watermarks: { name: 'truckroll.watermarks', partitions: 1, keeps: { days: 1 } },
  /** visit.assignment_added and visit.assignment_removed by `<company>/<visit>` (decisions §6). */
  scheduling: events('truckroll.scheduling.events'),
  /** The four public event types by `<company>/<service request or interaction>` (decisions §6). */
  serviceRequests: events('truckroll.scheduling.service-requests'),
  /** truckroll.events.v1.AuditEntry by `<company>/<entry>`: entries these services add to the audit trail (decisions §15). */
  schedulingAudit: events('truckroll.scheduling.audit'),
  billingAudit: events('truckroll.billing.audit'),
  reportingAudit: events('truckroll.reporting.audit'),
});

/** Services that publish watermarks: the owners of the records that reports are made of. */
export const watermarkSources = ['/truckroll/integrations', '/truckroll/scheduling', '/truckroll/billing'] as const;
