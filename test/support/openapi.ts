import { readFileSync } from 'node:fs';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';

const document = JSON.parse(readFileSync(new URL('../../gateway/openapi.json', import.meta.url), 'utf8'));
const ajv = new Ajv2020({ strict: false, allErrors: true });
(formats as unknown as { default: (ajv: Ajv2020) => void }).default(ajv);
ajv.addSchema(document, 'openapi.json');
const validators = new Map<string, ValidateFunction>();

/** Violations in a body; empty when it is valid. Throws for an answer that the description lacks. */
export function violations(verb: string, route: string, status: number, body: unknown): string[] {
  const pointer = `/paths/${escaped(route)}/${verb}/responses/${status}`;
  return violationsAt(`${resolved(pointer)}/content/application~1json/schema`, body);
}

/** Violations in a webhook's body. Throws for an event type that the description lacks. */
export function eventViolations(type: string, body: unknown): string[] {
  return violationsAt(`${resolved(`/webhooks/${escaped(type)}/post/requestBody`)}/content/application~1json/schema`, body);
}

function violationsAt(pointer: string, body: unknown): string[] {
  const validate = validators.get(pointer) ?? ajv.compile({ $ref: `openapi.json#${pointer}` });
  validators.set(pointer, validate);
  return validate(body) ? [] : (validate.errors ?? []).slice(0, 5).map(({ instancePath, message }) => `${instancePath} ${message}`);
}

function resolved(pointer: string): string {
  const at = pointer
    .split('/')
    .slice(1)
    .reduce((value: any, key) => value?.[key.replaceAll('~1', '/').replaceAll('~0', '~')], document);
  if (at === undefined) throw new Error(`the description has no ${pointer}`);
  return at.$ref === undefined ? encodeURI(pointer) : encodeURI(at.$ref.slice(1));
}

function escaped(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}
