import { readHealth } from '../api/integrations.ts';
import { PERIODS, type Bucket, type Health as HealthRecord, type HealthSeries, type Period } from '../api/types.ts';
import { recovers } from '../parts/badge.tsx';
import { Chart } from '../parts/chart.tsx';
import { attempts, counts, number, percent, waiting } from '../parts/figures.ts';
import { line, scaleTo, stackedBars } from '../parts/plot.ts';
import { Time, age, milliseconds, until } from '../parts/time.tsx';
import { useResource, type Resource } from '../state/resource.ts';

const NAMES: Record<Period, string> = { hour: '1 h', day: '24 h', week: '7 d' };
const SPOKEN: Record<Period, string> = { hour: 'The last hour', day: 'The last 24 hours', week: 'The last 7 days' };

export const periodIn = (text: string | null): Period => PERIODS.find((each) => each === text) ?? 'day';

export function useHealth(id: string, period: Period): Resource<HealthSeries> {
  return useResource(`health ${id} ${period}`, (signal) => readHealth(id, period, signal));
}

/** What is wrong with an enabled endpoint and what happens next; nothing if all is well. */
export function Trouble({ health }: { health: HealthRecord }) {
  if (health.state !== 'failing' && health.state !== 'degraded') return null;
  const { failingSince, backlog, oldestWaitingAt } = health;
  return (
    <div class={health.state === 'failing' ? 'problem' : 'warning'}>
      <strong>
        {failingSince === null
          ? recovers(health)
            ? 'It answers again.'
            : 'Some attempts of the last hour failed.'
          : `Failing since ${until(new Date(failingSince))}.`}
      </strong>
      <p>
        {consequence(health)}
        {backlog > 0 && (
          <>
            {' '}
            {waiting(backlog)}
            {oldestWaitingAt !== null && `, the oldest for ${age(oldestWaitingAt)}`}.
          </>
        )}
      </p>
    </div>
  );
}

function consequence({ circuit: { state, nextTryAt }, failingSince, backlog }: HealthRecord): string {
  if (state === 'open') return `Deliveries are held back; ${nextTry(nextTryAt)}. A test or a redelivery goes at once.`;
  if (state === 'half_open') return 'The next delivery is sent alone, to see whether it answers again.';
  if (failingSince === null && backlog === 0) return 'The last one was delivered, and nothing waits.';
  return 'Each delivery is tried again when its time comes.';
}

const nextTry = (at: string | null): string =>
  at === null || Date.parse(at) <= Date.now() ? 'the next try is any moment' : `next try at ${until(new Date(at))}`;

export function Standing({ health }: { health: HealthRecord }) {
  const { successRate, delivered, failed, p50Ms, p95Ms, backlog, oldestWaitingAt, lastSuccessAt, circuit, failingSince } = health;
  return (
    <dl class="tiles">
      <div>
        <dt>Success, 24 h</dt>
        <dd class={health.state === 'failing' ? 'figure bad' : 'figure'}>{successRate === null ? '–' : percent(successRate)}</dd>
        <dd class="soft">{counts({ delivered, failed })}</dd>
      </div>
      <div>
        <dt>Response time, 24 h</dt>
        <dd class="figure">{p50Ms === null ? '–' : milliseconds(p50Ms)}</dd>
        <dd class="soft">{p95Ms === null ? 'no responses' : `median; 95 % within ${milliseconds(p95Ms)}`}</dd>
      </div>
      <div>
        <dt>Waiting</dt>
        <dd class="figure">{number(backlog)}</dd>
        <dd class="soft">{oldestWaitingAt === null ? 'nothing waits' : `the oldest for ${age(oldestWaitingAt)}`}</dd>
      </div>
      <div>
        <dt>Circuit</dt>
        <dd class={circuit.state === 'closed' ? 'figure' : 'figure bad'}>
          {{ closed: 'Closed', open: 'Open', half_open: 'Half open' }[circuit.state] ?? circuit.state}
        </dd>
        <dd class="soft">
          {circuit.state === 'open'
            ? nextTry(circuit.nextTryAt)
            : failingSince === null
              ? 'sent as it comes'
              : `failing since ${until(new Date(failingSince))}`}
        </dd>
      </div>
      <div>
        <dt>Last success</dt>
        <dd class="figure">{lastSuccessAt === null ? '–' : `${age(lastSuccessAt)} ago`}</dd>
        <dd class="soft">{lastSuccessAt === null ? 'none within 30 days' : <Time at={lastSuccessAt} />}</dd>
      </div>
    </dl>
  );
}

interface Given {
  series: Resource<HealthSeries>;
  period: Period;
  href: (period: Period) => string;
}

/** Delivered and failed attempts, and response times, over a chosen period. */
export function Charts({ series: { value }, period, href }: Given) {
  return (
    <section aria-labelledby="activity">
      <div class="head">
        <h2 id="activity">Activity</h2>
        <nav class="choices" aria-label="Period">
          {PERIODS.map((each) => (
            <a key={each} href={href(each)} aria-current={each === period ? 'true' : undefined}>
              <span aria-hidden="true">{NAMES[each]}</span>
              <span class="unseen">{SPOKEN[each]}</span>
            </a>
          ))}
        </nav>
      </div>
      {value !== undefined &&
        (attempts(value) === 0 ? (
          <div class="empty">
            <p>{SPOKEN[period]}: nothing was sent.</p>
          </div>
        ) : (
          <div class="charts">
            <Outcomes series={value} />
            {value.p50Ms !== null && <Latency series={value} />}
          </div>
        ))}
    </section>
  );
}

function Outcomes({ series }: { series: HealthSeries }) {
  const most = scaleTo(Math.max(...series.buckets.map(attempts)));
  const bars = stackedBars(series.buckets, most);
  return (
    <Chart
      title="Delivered and failed"
      series={series}
      top={number(most)}
      describe={counts}
      curves={[
        { name: 'delivered', label: 'Delivered', total: number(series.delivered) },
        { name: 'failed', label: 'Failed', total: number(series.failed) },
      ]}
      columns={[
        { title: 'Delivered', cell: ({ delivered }) => number(delivered) },
        { title: 'Failed', cell: ({ failed }) => number(failed) },
      ]}
    >
      <path class="delivered" d={bars.delivered} />
      <path class="failed" d={bars.failed} />
    </Chart>
  );
}

const orNone = (ms: number | null): string => (ms === null ? '–' : milliseconds(ms));

function Latency({ series }: { series: HealthSeries }) {
  const { buckets, p50Ms, p95Ms } = series;
  const most = scaleTo(Math.max(1, ...buckets.map((bucket) => bucket.p95Ms ?? bucket.p50Ms ?? 0)));
  const describe = (bucket: Bucket): string => (bucket.p50Ms === null ? 'no responses' : `median ${orNone(bucket.p50Ms)}, 95 % within ${orNone(bucket.p95Ms)}`);
  return (
    <Chart
      title="Response time"
      series={series}
      top={milliseconds(most)}
      describe={describe}
      curves={[
        { name: 'p50', label: 'Median (p50)', total: orNone(p50Ms) },
        { name: 'p95', label: '95 % (p95)', total: orNone(p95Ms) },
      ]}
      columns={[
        { title: 'Median', cell: (bucket) => orNone(bucket.p50Ms) },
        { title: '95 % within', cell: (bucket) => orNone(bucket.p95Ms) },
      ]}
    >
      <path
        class="p95"
        d={line(
          buckets.map((bucket) => bucket.p95Ms),
          most,
        )}
      />
      <path
        class="p50"
        d={line(
          buckets.map((bucket) => bucket.p50Ms),
          most,
        )}
      />
    </Chart>
  );
}
