import { Page } from '../../parts/page.tsx';
import { places } from '../../state/route.ts';
import { RECEIVABLES, REPORTS } from './definitions.ts';
import { SavedViews } from './saved.tsx';

const NO_CHOICE = new URLSearchParams();

export function Reports() {
  return (
    <Page title="Reports">
      <p class="lead">Every figure leads to the records that it is made of. A view is its address: send it to a colleague of your company.</p>
      <ul class="cards">
        {[...REPORTS, RECEIVABLES].map(({ name, title, lead }) => (
          <li key={name}>
            <h2>
              <a href={places.report([name], NO_CHOICE)}>{title}</a>
            </h2>
            <p class="soft">{lead}</p>
          </li>
        ))}
      </ul>
      <SavedViews />
    </Page>
  );
}
