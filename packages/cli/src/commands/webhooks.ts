import type { Command } from 'commander';
import { KINDS } from '../gen/catalog.ts';
import type { ListedKind } from '../catalog.ts';
import type { ApiSession } from '../session.ts';
import { EXIT, Failure } from '../terminal/failure.ts';
import { card } from '../terminal/table.ts';
import { completeList } from './list.ts';

const HELP = `
Everything but list needs a user token, in TRUCKROLL_TOKEN or a profile: API keys may not change endpoints.

Examples:
  truckroll webhooks create https://example.com/hook --events service_request.created interaction.completed
  truckroll webhooks test <id>          # exit code 1 unless the receiver accepts the test; 0 for the endpoint of \`truckroll listen\`
  truckroll webhooks rotate-secret <id>`;

interface Creation {
  readonly name?: string;
  readonly events: [string, ...string[]];
}

const SECRET = 'The signing secret is shown once. Receivers read it from TRUCKROLL_WEBHOOK_SECRET.';

export function register(program: Command, session: ApiSession): void {
  const group = program.command('webhooks').description('Endpoints that receive events.').addHelpText('after', HELP);
  const options = { signal: session.io.signal };

  group
    .command('create')
    .description('Register an endpoint.')
    .argument('<url>', 'where deliveries go')
    .requiredOption('--events <types...>', 'types of events; `truckroll list webhook-event-types` lists them')
    .option('--name <name>', 'what the endpoint is called; default: the host of the URL')
    .action(async (url: string, { events, name }: Creation) => {
      if (!URL.canParse(url)) throw new Failure(`${url} is no URL: give one such as https://example.com/hook.`);
      const body = { name: name ?? new URL(url).host, url, eventTypes: events } as never;
      const { data } = await session.userClient().webhooks.create(body, options);
      const { id, signingSecret } = data;
      session.print(data, `${card({ id, name: data.name, url: data.url, signingSecret })}\n\n${SECRET}`);
    });

  completeList(group.command('list').description('List the endpoints.'), session, 'webhooks', KINDS['webhooks'] as ListedKind);

  for (const [name, state, description] of [
    ['pause', 'PAUSED', 'Keep events waiting, for at most 5 days.'],
    ['resume', 'ENABLED', 'Send what waits, and what comes.'],
  ] as const) {
    group
      .command(name)
      .description(description)
      .argument('<id>', 'of the endpoint')
      .action(async (id: string) => {
        const { data } = await session.userClient().webhooks.update(id, { state }, options);
        session.print(data, `${data.name} is ${data.state}.`);
      });
  }

  group
    .command('rotate-secret')
    .description('Create a new signing secret. For a day deliveries carry signatures of both.')
    .argument('<id>', 'of the endpoint')
    .action(async (id: string) => {
      const { data } = await session.userClient().webhooks.rotateSecret(id, options);
      session.print(data, `${card({ signingSecret: data.signingSecret })}\n\n${SECRET}`);
    });

  group
    .command('test')
    .description('Send a test event, and show what the receiver answered.')
    .argument('<id>', 'of the endpoint')
    .option('--event-type <type>', 'send the example of this type; default: webhook.test')
    .action(async (id: string, { eventType }: { eventType?: string }) => {
      const client = session.userClient();
      // Before the test, which may be what `listen --count` ends with: its endpoint is gone then.
      const { data: endpoint } = await client.webhooks.get(id, options);
      const { data } = await client.webhooks.test(id, eventType === undefined ? {} : ({ eventType } as never), options);
      const { testResult } = await import('../test-result.ts');
      const { outcome, delivered } = await testResult(client, endpoint, data, session.io.signal);
      session.print(outcome, card(outcome));
      if (!delivered) session.exitCode = EXIT.refused;
    });

  group
    .command('delete')
    .description('Remove an endpoint and its deliveries.')
    .argument('<id>', 'of the endpoint')
    .action(async (id: string) => {
      await session.userClient().webhooks.delete(id, options);
      session.print({ id }, `Removed ${id}.`);
    });
}
