// Screens of the business's records and reports, in a file that is loaded with the first of them.
export { Customer } from './customers/customer.tsx';
export { Customers } from './customers/customers.tsx';
export { Finder } from './finder.tsx';
export { RecordScreen } from './records/record.tsx';
export { Deposits } from './money/deposits.tsx';
export { MonthEnd } from './money/month-end.tsx';
export { Invoices, Payments } from './money/lists.tsx';
export { Money } from './money/money.tsx';
export { ReportsSection } from './reports/section.tsx';
export { Schedule } from './schedule/schedule.tsx';
export { Today } from './today/today.tsx';
