import { useState } from 'preact/hooks';
import { listKeys, revokeKey, rotateKey } from '../api/integrations.ts';
import type { ApiKey } from '../api/types.ts';
import { Badge } from '../parts/badge.tsx';
import { Confirm } from '../parts/confirm.tsx';
import { Page, focusHeading } from '../parts/page.tsx';
import { SecretOnce } from '../parts/secret-once.tsx';
import { Table, type Column } from '../parts/table.tsx';
import { Time, TimeOr } from '../parts/time.tsx';
import { announce } from '../state/notice.ts';
import { useResource } from '../state/resource.ts';
import { places } from '../state/route.ts';
import { Clients } from './clients.tsx';

type Asking = { readonly what: 'rotate' | 'revoke'; readonly key: ApiKey } | undefined;

const shown = ({ keyPrefix, keySuffix }: ApiKey) => (
  <code>
    {keyPrefix}…{keySuffix}
  </code>
);

export function Keys() {
  const keys = useResource('keys', listKeys);
  const [asking, setAsking] = useState<Asking>(undefined);
  const [rotated, setRotated] = useState<{ name: string; key: string } | undefined>(undefined);
  const close = (): void => setAsking(undefined);

  const columns: readonly Column<ApiKey>[] = [
    {
      title: 'Key',
      cell: (key) => (
        <>
          <span class="name">{key.name}</span>
          <span class="below">{shown(key)}</span>
        </>
      ),
    },
    {
      title: 'Made',
      cell: ({ createdAt, createdBy }) => (
        <>
          <Time at={createdAt} />
          <span class="soft below" title={createdBy.email}>
            {createdBy.kind === 'OPERATOR' ? `by an operator for ${createdBy.displayName}` : `by ${createdBy.displayName}`}
          </span>
        </>
      ),
    },
    { title: 'Last used', cell: ({ lastUsedAt }) => <TimeOr at={lastUsedAt} otherwise="Never" /> },
    {
      title: 'Expires',
      cell: ({ expiresAt }) => (
        <>
          {expiresAt !== null && Date.parse(expiresAt) <= Date.now() && <Badge tone="bad">Expired</Badge>} <TimeOr at={expiresAt} otherwise="Never" />
        </>
      ),
    },
    {
      title: 'Actions',
      quiet: true,
      cell: (key) => (
        <div class="buttons end">
          <button type="button" class="small" aria-label={`Rotate ${key.name}`} onClick={() => setAsking({ what: 'rotate', key })}>
            Rotate…
          </button>
          <button type="button" class="small danger" aria-label={`Revoke ${key.name}`} onClick={() => setAsking({ what: 'revoke', key })}>
            Revoke…
          </button>
        </div>
      ),
    },
  ];

  return (
    <Page
      title="API keys"
      live={[keys]}
      actions={
        <a class="button primary" href={places.newKey}>
          Create key
        </a>
      }
    >
      <p class="lead">A key reads all of the company’s records and may make the two scheduling writes, in the name of the user who made it.</p>
      {keys.value?.length === 0 && (
        <div class="empty">
          <h2>No keys yet</h2>
          <a class="button primary" href={places.newKey}>
            Create your first key
          </a>
        </div>
      )}
      {keys.value !== undefined && keys.value.length > 0 && <Table caption="API keys" columns={columns} rows={keys.value} rowKey={({ id }) => id} />}
      <Clients />
      {asking?.what === 'rotate' && (
        <Confirm
          title={`Rotate ${asking.key.name}?`}
          verb="Rotate key"
          danger
          onClose={close}
          onConfirm={async () => {
            setRotated(await rotateKey(asking.key.id));
            close();
            keys.refresh();
          }}
        >
          <p>
            The key {shown(asking.key)} gets a new value, and the present one opens nothing within a second. To change over without a gap, create a second key
            instead and revoke this one later.
          </p>
        </Confirm>
      )}
      {asking?.what === 'revoke' && (
        <Confirm
          title={`Revoke ${asking.key.name}?`}
          verb="Revoke key"
          danger
          onClose={close}
          onConfirm={async () => {
            await revokeKey(asking.key.id);
            announce(`${asking.key.name} was revoked.`);
            close();
            focusHeading();
            keys.refresh();
          }}
        >
          <p>Within a second {shown(asking.key)} opens nothing. This cannot be undone.</p>
        </Confirm>
      )}
      {rotated !== undefined && (
        <SecretOnce
          title={`The new value of ${rotated.name}`}
          what="API key"
          value={rotated.key}
          onDone={() => {
            setRotated(undefined);
            announce(`${rotated.name} was rotated.`);
          }}
        >
          <p>The former value opens nothing any more.</p>
        </SecretOnce>
      )}
    </Page>
  );
}
