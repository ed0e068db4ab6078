// An operation or an event as a section of an HTML page.
import { codeBlock, jsonBlock } from './code.ts';
import { ERRORS } from './errors-page.ts';
import { fieldList, typeText, type SchemaLink } from './fields.ts';
import { html, type Html } from './html.ts';
import { heading, markdown } from './markdown.ts';
import { CREDENTIALS, type AnswerView, type OperationView, type Sample, type WebhookView } from './views.ts';

/** `fields` are those of the record that it answers, where no operation before has shown them. */
export function operationSection(operation: OperationView, link: SchemaLink, root: string, fields?: Html): Html {
  const { id, summary, description, deprecated, verb, path, credential, parameters, body, answers, samples, trial } = operation;
  const successes = answers.filter(({ status }) => Number(status) < 400);
  const [answer] = successes.filter(({ example }) => example !== undefined);
  return html`<section class="operation">
<div>
${heading(2, id, summary)}
<p class="route"><span class="verb ${verb === 'GET' ? '' : 'write'}">${verb}</span> <code>${path}</code></p>
${markdown(description)}
${deprecated && html`<p><strong>Deprecated.</strong> <a href="${root}docs/changelog">See the changelog.</a></p>`}
<p>Credential: ${CREDENTIALS[credential]}.</p>
</div>
<div class="shown">
${sampleTabs(id, samples, trial)}
${body && html`<p class="note">Body</p>${jsonBlock(body.example)}`}
${answer && html`<p class="note">Answer ${answer.status}</p>${jsonBlock(answer.example)}`}
</div>
<div>
${parameters.length > 0 && html`${heading(3, `${id}-parameters`, 'Parameters')}${fieldList(parameters, link)}`}
${body && html`${heading(3, `${id}-body`, 'Body')}${markdown(body.description)}${fieldList(body.rows, link)}`}
${heading(3, `${id}-answers`, 'Answers')}
${answerList(
  // The example stands beside, and the name of its envelope says nothing.
  successes.map(({ status, description: text }) => ({ status, description: text })),
  link,
)}
<p>Errors: ${errorLinks(answers, root)}.</p>
${fields ?? fieldsElsewhere(operation, link)}
</div>
</section>`;
}

/** Where the fields of the record are described, if not here. */
function fieldsElsewhere({ record }: OperationView, link: SchemaLink): Html | undefined {
  const to = record === undefined ? undefined : link(record);
  return to === undefined ? undefined : html`<p class="note">Fields: <a href="${to}">${record}</a></p>`;
}

/** Errors are described once, on their page. */
function errorLinks(answers: readonly AnswerView[], root: string): Html {
  const statuses = answers.filter(({ status }) => Number(status) >= 400).map(({ status }) => status);
  return html`${statuses.map((status, index) => html`${index > 0 && ', '}<a href="${root}${ERRORS.slice(1)}#error-${status}">${status}</a>`)}`;
}

export function webhookSection({ id, type, description, headers, body, example, answers }: WebhookView, link: SchemaLink): Html {
  return html`<section class="operation">
${heading(2, id, type)}
<p class="route"><span class="verb write">POST</span> <code>the URL of your endpoint</code></p>
${markdown(description)}
${heading(3, `${id}-headers`, 'Headers')}${fieldList(headers, link)}
${heading(3, `${id}-body`, 'Body')}${fieldList(body, link)}
${jsonBlock(example)}
${heading(3, `${id}-answers`, 'Your answer')}
${answerList(answers, link)}
</section>`;
}

/** Radio buttons choose the sample, so no script is needed. The first is shown by default. */
function sampleTabs(id: string, samples: readonly Sample[], trial: OperationView['trial']): Html {
  const tried = trial && html` data-path="${trial.path}"${trial.list !== undefined && html` data-list="${trial.list}"`}`;
  return html`<fieldset class="samples"${tried}><legend class="unseen">Language of the sample</legend>${samples.map(
    ({ label, language, code }, index) =>
      html`<input class="unseen" type="radio" name="${id}-sample" id="${id}-${language}" value="${language}"${index === 0 && html` checked`}><label for="${id}-${language}">${label}</label>${codeBlock(code, language)}`,
  )}</fieldset>`;
}

function answerList(answers: readonly AnswerView[], link: SchemaLink): Html {
  return html`<dl class="fields">${answers.map(
    ({ status, description, schema, example }) =>
      html`<div><dt><code>${status}</code></dt><dd>${markdown(description)}${schema && html`<span class="type">${typeText(schema, link)}</span>`}${example !== undefined && html`<details><summary>Example of ${status}</summary>${jsonBlock(example)}</details>`}</dd></div>`,
  )}</dl>`;
}
