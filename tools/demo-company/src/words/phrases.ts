/** Free text as users type it. Some is deliberately awkward: quotes, line breaks, tabs, markup, other scripts, emoji. */

export const SUMMARIES = (
  'Not cooling upstairs|Water under the unit|Makes a “clunk” at start|Annual tune-up|Breaker trips at night|Slow kitchen drain|' +
  'Replace 1998 furnace|No hot water since Tuesday|Quote for second floor|Thermostat is blank|Llamar antes de llegar – no hablan inglés|空调不制冷|' +
  'الرجاء الاتصال قبل الوصول|🔥 smell of burning 🔥|Tenant\'s key is at the office|See e-mail:\n1. attic unit\n2. garage unit|<b>URGENT</b> & "ASAP"|' +
  'Noise @ 100% fan\tspeed'
).split('|');

export const VISIT_NOTES = (
  'Bring the tall ladder|Customer asked for the same technician|Second visit: install part|Call 30 minutes ahead||Park in the rear 🚚|' +
  'Follow-up: check charge|Zweiter Termin – Ersatzteil einbauen'
).split('|');

export const CANCEL_REASONS = ['CUSTOMER_RESCHEDULED', 'NOBODY_HOME', 'WEATHER', 'DUPLICATE', 'PRICE'] as const;

export const CANCEL_NOTES = ['Called at 7:10', 'Will call back', 'Ice on the roads ❄️', 'Went with a cousin’s firm'] as const;

export const LOST_REASONS = ['Too expensive', 'Chose a competitor', 'No answer after 3 calls', 'Out of area', '已取消'] as const;

export const TIME_NOTES = ['Forgot to clock out', 'Corrected by office', 'Truck inspection', 'Überstunden', 'Traffic on I-35'] as const;
