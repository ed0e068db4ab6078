// The content filter of an endpoint as rows of path, operator and value, and its dry run.
import { useEffect, useRef, useState } from 'preact/hooks';
import { previewFilter } from '../api/integrations.ts';
import { Problem, type Detail } from '../api/problem.ts';
import type { EventFilter } from '../api/types.ts';
import { isEnum, needsNoValue, operatorsOf, pathsOf, takesList, wordsFor, type Kind, type Paths } from '../filter/paths.ts';
import { concerns, filterOf, repeated, rowsOf, type Row } from '../filter/rows.ts';
import { ProblemBox } from '../parts/problem-box.tsx';
import { zone } from '../parts/time.tsx';
import { useAction, type Action } from '../state/action.ts';
import { FilterPreview, type Preview } from './filter-preview.tsx';

export interface FilterForm {
  readonly rows: readonly Row[];
  readonly paths: Paths;
  readonly filter: EventFilter | null;
  setRows(rows: readonly Row[]): void;
  /** Throws Problem if the rows are no filter. */
  check(): void;
}

/** The rows of a form. The paths are those of the event types that are chosen now. */
export function useFilterForm(known: EventFilter | null, types: readonly string[]): FilterForm {
  const paths = pathsOf(types);
  const [rows, setRows] = useState<readonly Row[]>(() => rowsOf(known, paths));
  return {
    rows,
    paths,
    filter: filterOf(rows, paths),
    setRows,
    check() {
      const details = repeated(rows);
      if (details.length > 0) throw new Problem('Two conditions of the filter are the same.', { code: 'INVALID_REQUEST', details });
    },
  };
}

interface Given {
  form: FilterForm;
  types: readonly string[];
  /** Saving, whose errors about the filter are shown next to its rows. */
  saving: Action;
}

export function FilterFields({ form, types, saving }: Given) {
  const { rows, setRows, paths, filter } = form;
  const trial = useAction();
  const [preview, setPreview] = useState<Preview | undefined>(undefined);
  const group = useRef<HTMLFieldSetElement>(null);
  /** The row that takes the focus once it is drawn; -1 is the button that adds one. */
  const focus = useRef<number | undefined>(undefined);
  useEffect(() => {
    if (focus.current === undefined) return;
    const selector = focus.current === -1 ? 'button.add' : `[data-row="${focus.current}"] select`;
    group.current?.querySelector<HTMLElement>(selector)?.focus();
    focus.current = undefined;
  }, [rows]);

  const problem = saving.problem ?? trial.problem;
  const details = (problem?.details ?? []).filter(({ field }) => field !== undefined && /^filter\b/.test(field));
  const general = details.filter((detail) => !rows.some((row) => concerns(row, detail)));
  const asked = JSON.stringify({ types, filter });

  function add(): void {
    focus.current = Math.max(-1, ...rows.map(({ key }) => key)) + 1;
    setRows([...rows, { key: focus.current, path: '', operator: '$eq', text: '' }]);
  }
  function remove(key: number): void {
    focus.current = -1;
    setRows(rows.filter((row) => row.key !== key));
  }
  function test(): void {
    saving.clear();
    void trial.run(async () => {
      form.check();
      setPreview({ asked, result: await previewFilter({ eventTypes: types, filter }) });
    });
  }

  return (
    <fieldset ref={group} aria-describedby={general.length > 0 ? 'filter-error' : 'filter-hint'}>
      <legend>Filter</legend>
      <p class="hint" id="filter-hint">
        {rows.length === 0
          ? 'Without conditions every event of these types is sent.'
          : `Only events that fulfil all conditions are sent. Times are in the company’s time zone, ${zone()}.`}
      </p>
      {general.length > 0 && (
        <p class="error" id="filter-error">
          {[...new Set(general.map(({ message }) => message))].join(' ')}
        </p>
      )}
      {rows.map((row, index) => (
        <Condition
          key={row.key}
          row={row}
          name={`condition ${index + 1}`}
          paths={paths}
          errors={details.filter((detail) => concerns(row, detail))}
          onChange={({ stored: _stored, ...changed }) => setRows(rows.map((each) => (each.key === row.key ? changed : each)))}
          onRemove={() => remove(row.key)}
        />
      ))}
      <div class="buttons">
        <button type="button" class="add" onClick={add}>
          Add condition
        </button>
        <button type="button" disabled={trial.busy} onClick={test}>
          {trial.busy ? 'Trying…' : 'Try on recent events'}
        </button>
      </div>
      <ProblemBox problem={saving.problem === undefined ? trial.problem : undefined} title="The filter was not tried." shownElsewhere={['filter']} focus />
      <FilterPreview preview={preview?.asked === asked ? preview : undefined} />
    </fieldset>
  );
}

interface ConditionGiven {
  row: Row;
  name: string;
  paths: Paths;
  errors: readonly Detail[];
  onChange: (row: Row) => void;
  onRemove: () => void;
}

function Condition({ row, name, paths, errors, onChange, onRemove }: ConditionGiven) {
  const { key, path, operator } = row;
  const kind = paths.get(path);
  const offered: readonly string[] = kind === undefined ? [] : operatorsOf(kind);
  const operators = kind === undefined || offered.includes(operator) ? offered : [operator, ...offered];
  const errorId = `filter-${key}-error`;

  function choosePath(chosen: string): void {
    const next = paths.get(chosen);
    if (next === undefined) return onChange({ ...row, path: chosen });
    const operators: readonly string[] = operatorsOf(next);
    onChange({ ...row, path: chosen, operator: path !== '' && operators.includes(operator) ? operator : operators[0]!, text: '' });
  }

  return (
    <div role="group" class="condition" data-row={key} aria-label={name} aria-describedby={errors.length > 0 ? errorId : undefined}>
      <select aria-label={`Path of ${name}`} value={path} onChange={(event) => choosePath(event.currentTarget.value)}>
        {path === '' && <option value="">Choose a path</option>}
        {path !== '' && kind === undefined && <option value={path}>{path} (not in these events)</option>}
        {[...paths.keys()].map((each) => (
          <option key={each} value={each}>
            {each}
          </option>
        ))}
      </select>
      <select
        aria-label={`Operator of ${name}`}
        value={operator}
        disabled={kind === undefined}
        onChange={(event) => onChange({ ...row, operator: event.currentTarget.value, text: needsNoValue(event.currentTarget.value) ? '' : row.text })}
      >
        {(kind === undefined ? [operator] : operators).map((each) => (
          <option key={each} value={each}>
            {wordsFor(each, kind)}
          </option>
        ))}
      </select>
      {!needsNoValue(operator) && path !== '' && (
        <Value label={`Value of ${name}`} row={row} kind={kind} invalid={errors.length > 0} onText={(text) => onChange({ ...row, text })} />
      )}
      <button type="button" aria-label={`Remove ${name}`} onClick={onRemove}>
        Remove
      </button>
      {errors.length > 0 && (
        <p class="error" id={errorId}>
          {[...new Set(errors.map(({ message }) => message))].join(' ')}
        </p>
      )}
    </div>
  );
}

interface ValueGiven {
  label: string;
  row: Row;
  kind: Kind | undefined;
  invalid: boolean;
  onText: (text: string) => void;
}

function Value({ label, row: { operator, text }, kind, invalid, onText }: ValueGiven) {
  const common = { 'aria-label': label, ...(invalid ? { 'aria-invalid': 'true' as const } : {}) };
  if (takesList(operator)) {
    if (isEnum(kind)) return <Several label={label} names={kind} text={text} onText={onText} />;
    const hint = kind === 'time' ? 'One per line, such as 2026-03-01T14:00' : 'One per line';
    return <textarea {...common} rows={3} placeholder={hint} value={text} spellcheck={false} onInput={(event) => onText(event.currentTarget.value)} />;
  }
  if (isEnum(kind))
    return (
      <select {...common} value={text} onChange={(event) => onText(event.currentTarget.value)}>
        {!kind.includes(text) && <option value={text}>{text === '' ? 'Choose a value' : text}</option>}
        {kind.map((each) => (
          <option key={each} value={each}>
            {each}
          </option>
        ))}
      </select>
    );
  const typed = { ...common, value: text, onInput: (event: { currentTarget: HTMLInputElement }) => onText(event.currentTarget.value) };
  if (kind === 'time') return <input {...typed} type="datetime-local" step={1} />;
  return <input {...typed} type="text" inputMode={kind === 'number' ? 'decimal' : 'text'} autocomplete="off" spellcheck={false} />;
}

/** Values of an enum to choose several from, in the order of the enum. */
function Several({ label, names, text, onText }: { label: string; names: readonly string[]; text: string; onText: (text: string) => void }) {
  const chosen = text.split('\n').filter((line) => line !== '');
  const offered = [...names, ...chosen.filter((each) => !names.includes(each))];
  const choose = (name: string, on: boolean) => onText(offered.filter((each) => (each === name ? on : chosen.includes(each))).join('\n'));
  return (
    <div role="group" class="several" aria-label={label}>
      {offered.map((each) => (
        <label key={each} class="choice">
          <input type="checkbox" value={each} checked={chosen.includes(each)} onChange={(event) => choose(each, event.currentTarget.checked)} />
          <code>{each}</code>
        </label>
      ))}
    </div>
  );
}
