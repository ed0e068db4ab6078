import { places } from '../../state/route.ts';

const TABS = [
  { title: 'Overdue', href: places.money },
  { title: 'Invoices', href: places.invoices() },
  { title: 'Payments', href: places.payments() },
  { title: 'Deposits', href: places.deposits() },
  { title: 'Month end', href: places.monthEnd() },
];

/** The way between the screens of money. */
export function Tabs({ current }: { current: string }) {
  return (
    <nav class="choices tabs" aria-label="Money">
      {TABS.map(({ title, href }) => (
        <a key={title} href={href} aria-current={title === current ? 'page' : undefined}>
          {title}
        </a>
      ))}
    </nav>
  );
}
