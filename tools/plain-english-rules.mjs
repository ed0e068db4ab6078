/** Phrases, and what to write instead. Those that begin with ^ heed letter case: they are about how a sentence begins. */
export const PHRASES = [
  [/(?:^|[.:;] )(?:Of|By|To|For|With|Beside|Behind) (?:which|what|whom|those|an? \w+'s)\b/i, 'begin with the subject'],
  [
    /^(?:Of|Who|Whom|Whose|Whoever|Whatever|How (?:many|long|often|far)|So (?:many|long|much|few)|As (?:many|long|often)) /,
    'begin with the noun: "Milliseconds to wait", "Maximum deliveries per request"',
  ],
  [/\b(?:tells?|told|telling)\b(?! (?:you|us|them|me|apart|whether))/i, 'reports, publishes, announces, says'],
  [
    /\bwho(?:ever|m|mever)? (?:asks?|waits?|calls?|comes?|sends?|reads?|writes?|needs?|wants?|has|is|was|does|goes|goes by|looks?|holds?|makes?|scrapes?|renames?|answers?)\b/i,
    'name the actor: the caller, the waiter, the scraper',
  ],
  [/\bso (?:many|long|few)\b(?! (?:that|as to))/i, 'say the number: "at most N"'],
  [/\bbut for\b/i, 'except'],
  [/\b(?:is|are|was|were) to be\b/i, 'must be, should be'],
  [/\b(?:nobody|somebody|anybody)\b/i, 'no caller, another process, any client'],
  [/\bof (?:\w+'s)\b(?=[ ,.;:)])/i, 'drop the double genitive'],
  [/\bat best\b/i, 'at its fastest, under no load (give the baseline a name)'],
  [/\b(?:stands?|stood) (?:still|for|beside|behind|there|again)\b/i, 'stalls, represents, is next to'],
  [/\b(?:mend(?:s|ed|ing)?|lend(?:s|ing)?|lent|borrow(?:s|ed|ing)?)\b/i, 'fix / lease'],
  [
    /\b(?:in earnest|in peace|meanwhile|beside(?! the point)|besides|heretofore|lest|thereby|therein|thereof|whereupon|hence)\b/i,
    'plainer words: next to, while, so',
  ],
  [/\b(?:as it is|as they are|as it was|what (?:it|they) (?:is|are|was|were) for)\b/i, 'say which state'],
  [/\bhas (?:none|it|them|some|all|nothing)\b/i, 'name the thing it has'],
  [/\b(?:goes|go|going|went) (?:by|through|without|round|on meanwhile)\b/i, 'uses, passes, continues'],
  [/\bmore than (?:it|they|one) (?:has|have|had)\b/i, 'restate'],
  [/\bthe (?:one|ones) (?:before|after|that)\b/i, 'name it again'],
  [/\b(?:asked for|is asked|are asked|was asked)\b/i, 'requested, required, target'],
  [/\bof its own\b/i, 'its own X'],
];

/** Words that the glossary replaces, in identifiers, comments and strings; and what it says instead. */
export const WORDS = [
  [/\b(?:untold|told|tell(?:s|ing)?)\b(?! (?:you|us|them|me|apart|whether))/gi, 'report, publish, notify or say'],
  [/\b(?:lent|lend(?:s|ing|able)?|borrow(?:s|ed|ing|able)?)\b/gi, 'lease'],
  [/\bpark(?:s|ed|ing)?\b|\bset aside\b/gi, 'dead letter'],
  [/\bthrottl(?:e|es|ed|ing)\b|\bpatien(?:ce|t|tly)\b/gi, 'limiter, queue, timeout or backoff'],
  [/\bat best\b/gi, 'unloaded latency'],
  [/\bmend(?:s|ed|ing)?\b/gi, 'fix or repair'],
  [/\b(?:no|some|any)body\b|\bwhom(?:ever)?\b|\bwhoever\b/gi, 'the caller, the client, no process'],
  [/\b(?:un)?heard\b|\bhears?\b/gi, 'receive, be notified of'],
];

/** Names that clients, operators, stored data or other programs depend on, and data that imitates what people write. */
export const ALLOWED = [
  // The protocol's and the tables' older name of dead letters.
  'parking.retry_parked_events',
  'ParkingService',
  'gen/events/v1/parking',
  'ParkedEvent',
  'parked_event',
  'parked_at',
  'SetAside',
  'setAside',
  // Label, command and alerts that dashboards and scripts of operators name.
  "'parked'",
  "'set_aside'",
  '"parked"',
  'parked:',
  'dead-letters|parked',
  'EventsParked',
  'WebhooksReachNobody',
  // Demo data.
  'Wants somebody before noon',
  'The clock stops until somebody acts.',
  'NOBODY_HOME',
  'Park in the rear',
  'Park Pl',
];

/** Files whose words stay: released migrations never change, and their tables are made from the text in tables.ts. */
const FIXED = /^(services|packages)\/[^/]+\/migrations\/|^packages\/outbox\/src\/tables\.ts$/;

/** Whether the words of a file are checked; phrases always are. */
export const hasCheckedWords = (path) => !path.endsWith('.md') && !FIXED.test(path);
