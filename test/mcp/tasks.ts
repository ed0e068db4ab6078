// What people ask an assistant, as a scripted client carries it out by the tools, and what is right by the records that the API returns.
// Everything happens on DAY, the last day of the demo company.
type Json = Record<string, any>;

/** Every record of the company by kind, read through the API. */
export type Books = Readonly<Record<string, Json[]>>;

/** The tools as a client uses them. Calls are counted. */
export interface Tools {
  /** Every record of all pages. */
  find(kind: string, args?: Json): Promise<Json[]>;
  get(kind: string, id: string, related?: string[]): Promise<Json[]>;
  report(name: string, parameters: Json): Promise<Json[]>;
  /** Requests a preview, and sends its token. Resolves to the reason if the change is refused. */
  schedule(args: Json): Promise<string | undefined>;
}

export interface Task {
  ask: string;
  carryOut(tools: Tools, books: Books): Promise<unknown>;
  /** The right answer. `books` are as before a question, and as after a change. */
  truth(books: Books): unknown;
}

export const DAY = '2026-11-20';
export const KINDS = [
  ...['accounts', 'contacts', 'locations', 'equipment', 'team-members', 'jobs', 'job-appointments', 'job-assignments', 'time-entries'],
  ...['estimates', 'invoices', 'payments', 'refunds'],
];

const local = new Intl.DateTimeFormat('en-CA', { timeZone: 'America/Chicago' });
/** Day of an instant in the company's time zone. */
const day = (instant: string | null): string => (instant === null ? '' : local.format(new Date(instant)));
const isIn = (from: string, before: string) => (instant: string | null) => day(instant) >= from && day(instant) < before;
const inHalf = isIn('2026-01-01', '2026-07-01');
const HALF = (name: string) => ({ [`${name}_from`]: '2026-01-01', [`${name}_before`]: '2026-07-01' });

const ids = (records: readonly Json[]): string[] => records.map(({ id }) => id as string).toSorted();
const named = (name: string) => (value: unknown) => (record: Json) => record[name] === value;
const status = named('status');
const jobClass = named('job_class');
const dispatch = named('dispatch_status');
const money = (cents: number): string => (cents / 100).toFixed(2);
const owed = ({ amounts }: Json): number => amounts.open_balance_cents;
const total = (records: readonly Json[], of: (record: Json) => number): number => records.reduce((sum, record) => sum + of(record), 0);
const byStart = (a: Json, b: Json): number => (a['starts_at'] + a['id'] < b['starts_at'] + b['id'] ? -1 : 1);
const one = (records: readonly Json[], matches: (record: Json) => unknown = () => true): Json => records.find(matches)!;

/** Questions that one filtered list answers: the question, the kind, its filters, and which records are right. */
const LISTS: [string, string, Json, (record: Json) => unknown][] = [
  ['Which invoices are open?', 'invoices', { status: ['OPEN'] }, status('OPEN')],
  [
    'Which open invoices were due before today?',
    'invoices',
    { status: ['OPEN'], due_before: DAY },
    (i) => i['status'] === 'OPEN' && i['due_at'] && day(i['due_at']) < DAY,
  ],
  ['On which invoices are 500 dollars or more open?', 'invoices', { open_balance_from: 50_000 }, (i) => owed(i) >= 50_000],
  ['Which invoices are still drafts?', 'invoices', { status: ['DRAFT'] }, status('DRAFT')],
  ['Which invoices were voided?', 'invoices', { status: ['VOIDED'] }, status('VOIDED')],
  ['Which invoices will never be paid?', 'invoices', { status: ['UNCOLLECTABLE'] }, status('UNCOLLECTABLE')],
  ['What did we invoice in the first half of the year?', 'invoices', HALF('issued'), (i) => inHalf(i['issued_at'])],
  ['Which invoices belong to no business unit?', 'invoices', { missing: ['business_unit'] }, (i) => i['business_unit'] === null],
  ['Which invoices are for installations?', 'invoices', { job_class: ['INSTALL'] }, jobClass('INSTALL')],
  [
    'Which paid invoices are for maintenance?',
    'invoices',
    { job_class: ['MAINTENANCE'], status: ['PAID'] },
    (i) => jobClass('MAINTENANCE')(i) && status('PAID')(i),
  ],
  ['Which payments failed?', 'payments', { status: ['FAILED'] }, status('FAILED')],
  ['Which payments are under way?', 'payments', { status: ['SUBMITTING', 'PENDING', 'PROCESSING'] }, (p) => /SUBM|PEND|PROC/.test(p['status'])],
  [
    'Which card payments came in the first half of the year?',
    'payments',
    { method: ['CARD'], ...HALF('occurred') },
    (p) => p['method'] === 'CARD' && inHalf(p['occurred_at']),
  ],
  ['Which payments have no collector?', 'payments', { missing: ['collected_by'] }, (p) => p['collected_by'] === null],
  ['Who paid by cash or check?', 'payments', { method: ['CASH', 'CHECK'] }, (p) => /^CASH$|CHECK/.test(p['method'])],
  ['Which refunds are pending?', 'refunds', { status: ['PENDING'] }, status('PENDING')],
  ['Which refunds went back to cards?', 'refunds', { payment_method: ['CARD'] }, named('payment_method')('CARD')],
  ['Which customers are businesses?', 'accounts', { type: ['COMMERCIAL'] }, named('type')('COMMERCIAL')],
  ['Which customers are archived?', 'accounts', { archived: true }, named('archived')(true)],
  ['Which homeowners are current customers?', 'accounts', { type: ['RESIDENTIAL'], archived: false }, (a) => a['type'] === 'RESIDENTIAL' && !a['archived']],
  ['Which contacts are archived?', 'contacts', { archived: true }, named('archived')(true)],
  ['Which visits have no technician?', 'job-appointments', { dispatch_status: ['UNASSIGNED'] }, dispatch('UNASSIGNED')],
  [
    'Which coming visits are not confirmed?',
    'job-appointments',
    { confirmed: false, canceled: false, starts_from: DAY },
    (v) => !v['confirmed'] && !v['canceled'] && day(v['starts_at']) >= DAY,
  ],
  ['Which visits were canceled?', 'job-appointments', { canceled: true }, named('canceled')(true)],
  [
    'Which visits of the first half of the year are completed?',
    'job-appointments',
    { dispatch_status: ['COMPLETED'], ...HALF('starts') },
    (v) => dispatch('COMPLETED')(v) && inHalf(v['starts_at']),
  ],
  [
    'Which technicians are on their way or working?',
    'job-assignments',
    { status: ['EN_ROUTE', 'IN_PROGRESS'] },
    (a) => /EN_ROUTE|IN_PROGRESS/.test(a['status']),
  ],
  ['Which assignments have not begun?', 'job-assignments', { status: ['TO_DO'] }, status('TO_DO')],
  [
    'Who are our active technicians?',
    'team-members',
    { role: ['TECHNICIAN'], status: ['ACTIVE'] },
    (m) => m['role'] === 'TECHNICIAN' && m['status'] === 'ACTIVE',
  ],
  ['Who can be assigned to visits?', 'team-members', { assignable: true }, named('assignable')(true)],
  ['Who was invited and has not joined?', 'team-members', { status: ['INVITED'] }, status('INVITED')],
  ['Which jobs are in progress?', 'jobs', { stage: ['IN_PROGRESS'] }, (j) => j['status'].stage === 'IN_PROGRESS'],
  ['Which jobs are on hold?', 'jobs', { stage: ['ON_HOLD'] }, (j) => j['status'].stage === 'ON_HOLD'],
  ['Which jobs were won or lost?', 'jobs', { stage: ['WON', 'LOST'] }, (j) => /WON|LOST/.test(j['status'].stage)],
  ['Which jobs are repairs under warranty or callbacks?', 'jobs', { job_class: ['WARRANTY', 'CALLBACK'] }, (j) => /WARRANTY|CALLBACK/.test(j['job_class'])],
  ['Which jobs start from today on?', 'jobs', { starts_from: DAY }, (j) => day(j['first_starts_at']) >= DAY],
  ['Which estimates were sold?', 'estimates', { status: ['SOLD'] }, status('SOLD')],
  ['Which estimates wait for an answer?', 'estimates', { status: ['SENT'] }, status('SENT')],
  ['Which estimates were declined or expired?', 'estimates', { status: ['DECLINED', 'EXPIRED'] }, (e) => /DECLINED|EXPIRED/.test(e['status'])],
  ['Which equipment was removed?', 'equipment', { status: ['REMOVED'] }, status('REMOVED')],
  [
    'When did people travel in the first half of the year?',
    'time-entries',
    { activity: ['TRAVEL'], ...HALF('starts') },
    (t) => t['activity'] === 'TRAVEL' && inHalf(t['starts_at']),
  ],
];

const lists: Task[] = LISTS.map(([ask, kind, filters, isRight]) => ({
  ask,
  carryOut: async ({ find }, books) => ids(await find(kind, { filters, fields: ['number' in (books[kind]?.[0] ?? {}) ? 'number' : 'id'] })),
  truth: (books) => ids(books[kind]!.filter((record) => isRight(record))),
}));

/** Customers who owe more than 200 dollars on these invoices. */
function debtors(invoices: readonly Json[]): string[] {
  const groups = Map.groupBy(invoices, ({ account }) => account.id as string);
  return [...groups]
    .filter(([, owing]) => total(owing, owed) > 20_000)
    .map(([id]) => id)
    .toSorted();
}

const SIXTY_DAYS_AGO = '2026-09-21';
const open = (books: Books): Json[] => books['invoices']!.filter(status('OPEN'));
const OF_BALANCE = { filters: { status: ['OPEN'] }, fields: ['number', 'account', 'amounts'] };
const debtor = (books: Books): Json => one(books['accounts']!, ({ id }) => open(books).some(({ account }) => account.id === id));
const scheduled = (books: Books): Json =>
  books['job-appointments']!.toSorted(byStart).find(({ assignments, canceled }) => !canceled && assignments.length === 1)!;

const questions: Task[] = [
  {
    ask: 'Which customers owe more than 200 dollars for over 60 days?',
    carryOut: async ({ find }) => debtors(await find('invoices', { ...OF_BALANCE, filters: { status: ['OPEN'], due_before: SIXTY_DAYS_AGO } })),
    truth: (books) => debtors(open(books).filter(({ due_at }) => due_at !== null && day(due_at) < SIXTY_DAYS_AGO)),
  },
  {
    ask: 'How much is open in all?',
    carryOut: async ({ find }) => total(await find('invoices', OF_BALANCE), owed),
    truth: (books) => total(open(books), owed),
  },
  {
    ask: 'What is the most that one invoice has open?',
    carryOut: async ({ find }) => Math.max(...(await find('invoices', OF_BALANCE)).map(owed)),
    truth: (books) => Math.max(...open(books).map(owed)),
  },
  {
    ask: 'What does this customer owe, by their name?',
    async carryOut({ find }, books) {
      const { id, name } = debtor(books);
      const found = await find('accounts', { search: name, fields: ['name'] });
      return total(await find('invoices', { ...OF_BALANCE, filters: { status: ['OPEN'], account_id: one(found, (each) => each['id'] === id)['id'] } }), owed);
    },
    truth: (books) =>
      total(
        open(books).filter(({ account }) => account.id === debtor(books)['id']),
        owed,
      ),
  },
  {
    ask: 'Who calls from this number?',
    carryOut: async ({ find }, books) =>
      ids(await find('accounts', { filters: { phone: one(books['accounts']!, ({ phone }) => phone)['phone'] }, fields: ['name'] })),
    truth: ({ accounts }) => ids(accounts!.filter(({ phone }) => phone === one(accounts!, (each) => each['phone'])['phone'])),
  },
  {
    ask: 'Which visits does this customer have?',
    carryOut: async ({ find }, books) =>
      ids(await find('job-appointments', { filters: { account_id: scheduled(books)['job'].account.id }, fields: ['number'] })),
    truth: (books) => ids(books['job-appointments']!.filter(({ job }) => job.account.id === scheduled(books)['job'].account.id)),
  },
  {
    ask: 'How do I reach the customer of this invoice, by its number?',
    async carryOut({ find, get }, { invoices }) {
      const [{ id }] = (await find('invoices', { filters: { number: one(invoices!)['number'] }, fields: ['number'] })) as [Json];
      const [, account] = await get('invoices', id, ['account']);
      return account!['phone'] ?? null;
    },
    truth: ({ invoices, accounts }) => one(accounts!, ({ id }) => id === one(invoices!)['account'].id)['phone'],
  },
  {
    ask: 'Who is assigned to the visits of this job?',
    async carryOut({ get }, books) {
      const [, ...visits] = await get('jobs', scheduled(books)['job_id'], ['job-appointments']);
      return visits.flatMap(({ assignments = [] }) => assignments.map(({ team_member }: Json) => team_member.name)).toSorted();
    },
    truth: (books) =>
      books['job-assignments']!.filter(({ job_id }) => job_id === scheduled(books)['job_id'])
        .map(({ team_member }) => team_member.name)
        .toSorted(),
  },
  {
    ask: 'Where does this job take place?',
    carryOut: async ({ get }, { jobs }) => (await get('jobs', one(jobs!)['id'], ['location']))[1]!['address'].formatted,
    truth: ({ jobs, locations }) => one(locations!, ({ id }) => id === one(jobs!)['location_id'])['address'].formatted,
  },
  {
    ask: 'Which payments settled this invoice?',
    carryOut: async ({ get }, { invoices }) => ids((await get('invoices', one(invoices!, status('PAID'))['id'], ['payments'])).slice(1)),
    truth: ({ invoices, payments }) =>
      ids(
        payments!.filter(({ invoice_allocations }) => invoice_allocations.some(({ invoice_id }: Json) => invoice_id === one(invoices!, status('PAID'))['id'])),
      ),
  },
  {
    ask: 'Where does this technician have to go from today on?',
    async carryOut({ find }, books) {
      const { id, name } = one(books['team-members']!, ({ role }) => role === 'TECHNICIAN');
      const found = one(await find('team-members', { search: name, fields: ['name'] }), (each) => each['id'] === id);
      return ids(await find('job-appointments', { filters: { team_member_id: found['id'], starts_from: DAY }, fields: ['number', 'job'] }));
    },
    truth: (books) => {
      const { id } = one(books['team-members']!, ({ role }) => role === 'TECHNICIAN');
      return ids(
        books['job-appointments']!.filter((v) => day(v['starts_at']) >= DAY && v['assignments'].some(({ team_member }: Json) => team_member.id === id)),
      );
    },
  },
  {
    ask: 'Which equipment stands at this address?',
    carryOut: async ({ get }, { equipment }) => ids((await get('locations', one(equipment!)['location_id'], ['equipment'])).slice(1)),
    truth: ({ equipment }) => ids(equipment!.filter(({ location_id }) => location_id === one(equipment!)['location_id'])),
  },
  {
    ask: 'How much is open, by how long it is overdue?',
    async carryOut({ report }) {
      const rows = await report('receivables', {});
      return Object.fromEntries(
        rows.filter((row) => row['bucket'] !== 'TOTAL' && row['open_balance'] !== '0.00').map((row) => [row['bucket'], row['open_balance']]),
      );
    },
    truth: (books) =>
      Object.fromEntries([...Map.groupBy(open(books), ({ aging }) => aging.bucket as string)].map(([bucket, all]) => [bucket, money(total(all, owed))])),
  },
  {
    ask: 'What did we invoice in each month of the third quarter?',
    carryOut: async ({ report }) =>
      (await report('invoice-activity', { start_date: '2026-07-01', end_date: '2026-10-01', bucket: 'month' })).map((row) => row['total']),
    truth: ({ invoices }) =>
      ['07', '08', '09', '10'].slice(0, 3).map((month, n, months) => {
        const within = isIn(`2026-${month}-01`, `2026-${months[n + 1] ?? '10'}-01`);
        return money(
          total(
            invoices!.filter((i) => /OPEN|PAID/.test(i['status']) && within(i['issued_at'])),
            ({ amounts }) => amounts.total_cents,
          ),
        );
      }),
  },
  {
    ask: 'How much did we collect in the first half of the year by each method?',
    async carryOut({ report }) {
      const rows = await report('collections', { start_date: '2026-01-01', end_date: '2026-07-01', bucket: 'year', group_by: 'payment_method' });
      return Object.fromEntries(rows.filter((row) => row['payment_count'] > 0).map((row) => [row['group'].value, row['received']]));
    },
    truth: ({ payments }) => {
      const received = payments!.filter((p) => p['status'] === 'PAID' && inHalf(p['occurred_at']));
      return Object.fromEntries(
        [...Map.groupBy(received, ({ method }) => method as string)].map(([method, all]) => [method, money(total(all, (p) => p['amount_cents']))]),
      );
    },
  },
];

/** Ids of the technicians assigned to a visit. */
function crew(books: Books, visitId: string): string[] {
  const of = books['job-assignments']!.filter(({ appointment_id }) => appointment_id === visitId);
  return of.map(({ team_member }) => team_member.id as string).toSorted();
}

const technicians = ({ find }: Tools): Promise<Json[]> =>
  find('team-members', { filters: { role: ['TECHNICIAN'], status: ['ACTIVE'], assignable: true }, fields: ['name'] });

/** Adds a technician for the part of the visit's time that is inside its arrival window. */
function add({ schedule }: Tools, visit: Json, team_member_id: string): Promise<string | undefined> {
  const starts_at = visit['starts_at'] > visit['window_start_at'] ? visit['starts_at'] : visit['window_start_at'];
  const ends_at = visit['ends_at'] < visit['window_end_at'] ? visit['ends_at'] : visit['window_end_at'];
  return schedule({ action: 'add', appointment_id: visit['id'], team_member_id, starts_at, ends_at });
}

const readVisit = async ({ get }: Tools, { id }: Json): Promise<Json> => (await get('job-appointments', id))[0]!;

/** Tasks that change something. Each answers the visit and the technicians that it should have. */
const CARRIED_OUT: [string, (tools: Tools, books: Books) => Promise<[string, string[]]>][] = [
  [
    'Put a free technician on the first unassigned visit from today on.',
    async (tools) => {
      const fields = ['starts_at', 'ends_at', 'window_start_at', 'window_end_at'];
      const filters = { dispatch_status: ['UNASSIGNED'], canceled: false, starts_from: DAY };
      const visit = (await tools.find('job-appointments', { filters, fields })).toSorted(byStart)[0]!;
      const others = await tools.find('job-assignments', { filters: { starts_from: DAY }, fields: ['team_member', 'starts_at', 'ends_at'] });
      const overlapping = others.filter((each) => each['starts_at'] < visit['ends_at'] && each['ends_at'] > visit['starts_at']);
      const free = one(await technicians(tools), ({ id }) => overlapping.every(({ team_member }) => team_member.id !== id));
      await add(tools, visit, free['id']);
      return [visit['id'], [free['id']]];
    },
  ],
  [
    'Take the technician off this visit.',
    async (tools, books) => {
      const visit = await readVisit(tools, notBegun(books, 1));
      await tools.schedule({ action: 'remove', assignment_id: visit['assignments'][0].id });
      return [visit['id'], []];
    },
  ],
  [
    'Send another technician to this visit instead.',
    async (tools, books) => {
      const visit = await readVisit(tools, notBegun(books, 2));
      const [old] = visit['assignments'];
      const other = one(await technicians(tools), ({ id }) => id !== old.team_member.id);
      await tools.schedule({ action: 'remove', assignment_id: old.id });
      await add(tools, visit, other['id']);
      return [visit['id'], [other['id']]];
    },
  ],
  [
    'Send a second technician to this visit.',
    async (tools, books) => {
      const visit = await readVisit(tools, notBegun(books, 3));
      const first = visit['assignments'][0].team_member.id;
      const second = one(await technicians(tools), ({ id }) => id !== first)['id'];
      await add(tools, visit, second);
      return [visit['id'], [first, second].toSorted()];
    },
  ],
  [
    'Send a technician to this canceled visit, which is refused.',
    async (tools, books) => {
      const visit = one(books['job-appointments']!, ({ canceled }) => canceled);
      const refused = await add(tools, visit, one(await technicians(tools))['id']);
      return [refused === undefined ? 'nothing was refused' : visit['id'], crew(books, visit['id'])];
    },
  ],
];

const changes = CARRIED_OUT.map(([ask, carryOut]): Task => {
  let visitId = '';
  return {
    ask,
    async carryOut(tools, books) {
      const answer = await carryOut(tools, books);
      visitId = answer[0];
      return answer;
    },
    truth: (books) => [visitId, crew(books, visitId)],
  };
});

/** The n-th visit whose only assignment has not begun. */
function notBegun(books: Books, n: number): Json {
  const waiting = ({ canceled, assignments }: Json): boolean => !canceled && assignments.length === 1 && assignments[0].status === 'TO_DO';
  return books['job-appointments']!.filter(waiting).toSorted(byStart)[n]!;
}

export const QUESTIONS: readonly Task[] = [...lists, ...questions];
export const CHANGES: readonly Task[] = changes;
