// Pausing, resuming, disabling and enabling an endpoint. Only what skips events asks first.
import { useState } from 'preact/hooks';
import { updateEndpoint } from '../api/integrations.ts';
import type { Endpoint } from '../api/types.ts';
import { Confirm } from '../parts/confirm.tsx';
import { thatWait } from '../parts/figures.ts';
import type { Action } from '../state/action.ts';
import { announce } from '../state/notice.ts';

export type AskedState = 'disable' | 'enable';

interface ButtonsGiven {
  endpoint: Endpoint;
  action: Action;
  onChanged: () => void;
  onAsk: (asked: AskedState) => void;
}

export function StateButtons({ endpoint: { id, state }, action, onChanged, onAsk }: ButtonsGiven) {
  const change = (next: 'ENABLED' | 'PAUSED', said: string) =>
    action.run(async () => {
      const { name } = await updateEndpoint(id, { state: next });
      announce(`${name} ${said}`);
      onChanged();
    });
  return (
    <>
      {state === 'ENABLED' && (
        <button type="button" disabled={action.busy} onClick={() => void change('PAUSED', 'is paused. Events wait for up to five days.')}>
          Pause
        </button>
      )}
      {state === 'PAUSED' && (
        <button type="button" disabled={action.busy} onClick={() => void change('ENABLED', 'is enabled. What has waited is being sent.')}>
          Resume
        </button>
      )}
      {state === 'DISABLED' ? (
        <button type="button" onClick={() => onAsk('enable')}>
          Enable…
        </button>
      ) : (
        <button type="button" onClick={() => onAsk('disable')}>
          Disable…
        </button>
      )}
    </>
  );
}

interface AskGiven {
  endpoint: Endpoint;
  asked: AskedState;
  onClose: () => void;
}

export function AskState({ endpoint: { id, name, state, health }, asked, onClose }: AskGiven) {
  const [resumes, setResumes] = useState(true);
  const backlog = health?.backlog ?? 0;
  if (asked === 'disable')
    return (
      <Confirm
        title={`Disable ${name}?`}
        verb="Disable endpoint"
        danger
        onClose={onClose}
        onConfirm={async () => {
          await updateEndpoint(id, { state: 'DISABLED' });
          announce(`${name} is disabled. Events are kept as skipped for 30 days.`);
          onClose();
        }}
      >
        <p>
          {backlog === 0 ? 'Nothing waits for it now.' : `${thatWait(backlog)} skipped at once.`} New events are skipped too, until it is enabled. Skipped
          events are kept for 30 days.
        </p>
        {state === 'ENABLED' && <p>To skip nothing, pause it instead.</p>}
      </Confirm>
    );
  return (
    <Confirm
      title={`Enable ${name}?`}
      verb="Enable endpoint"
      onClose={onClose}
      onConfirm={async () => {
        await updateEndpoint(id, { state: 'ENABLED', resumeSkipped: resumes });
        announce(`${name} is enabled. ${resumes ? 'What was skipped is being sent.' : 'What was skipped can be recovered.'}`);
        onClose();
      }}
    >
      <p>New events are sent from now on.</p>
      <label class="choice">
        <input type="checkbox" checked={resumes} onChange={(event) => setResumes(event.currentTarget.checked)} />
        <span>
          Send what was skipped since it was disabled<span class="hint">In order, before new events.</span>
        </span>
      </label>
    </Confirm>
  );
}
