// One request in each language, with the standard library only. Samples run unchanged; readers replace the example ids with their own.
import type { OperationView, Sample } from './views.ts';

/** What a sample sends, and the environment variables it reads. */
interface Call {
  verb: string;
  /** Path and query. */
  target: string;
  credential: string;
  body: string | undefined;
  idempotent: boolean;
}

const KEY_OF_WRITE = 'add-4711-2026-03-02';

export function samplesOf(operation: Pick<OperationView, 'verb' | 'target' | 'credential' | 'body' | 'idempotent'>): Sample[] {
  const call: Call = {
    verb: operation.verb,
    target: operation.target,
    credential: operation.credential === 'token' ? 'TRUCKROLL_TOKEN' : 'TRUCKROLL_API_KEY',
    body: operation.body === undefined ? undefined : JSON.stringify(operation.body.example, null, 2),
    idempotent: operation.idempotent,
  };
  return [
    { label: 'curl', language: 'bash', code: curl(call) },
    { label: 'TypeScript', language: 'typescript', code: typescript(call) },
    { label: 'Python', language: 'python', code: python(call) },
  ];
}

function curl({ verb, target, credential, body, idempotent }: Call): string {
  const lines = [
    `curl ${verb === 'GET' ? '' : `-X ${verb} `}"$TRUCKROLL_URL${target}"`,
    `-H "Authorization: Bearer $${credential}"`,
    ...(idempotent ? [`-H "Idempotency-Key: ${KEY_OF_WRITE}"`] : []),
    ...(body === undefined ? [] : ['-H "Content-Type: application/json"', `-d '${body.replaceAll("'", "'\\''")}'`]),
  ];
  return lines.join(' \\\n  ');
}

function typescript({ verb, target, credential, body, idempotent }: Call): string {
  const headers = [
    `Authorization: \`Bearer \${process.env.${credential}}\``,
    ...(idempotent ? ["'Idempotency-Key': crypto.randomUUID()"] : []),
    ...(body === undefined ? [] : ["'Content-Type': 'application/json'"]),
  ];
  return [
    `const response = await fetch(\`\${process.env.TRUCKROLL_URL}${target}\`, {`,
    ...(verb === 'GET' ? [] : [`  method: '${verb}',`]),
    ...(headers.length === 1 ? [`  headers: { ${headers[0]} },`] : ['  headers: {', ...headers.map((line) => `    ${line},`), '  },']),
    ...(body === undefined ? [] : [`  body: JSON.stringify(${indented(body, '  ')}),`]),
    '});',
    'if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);',
    'console.log(await response.json());',
  ].join('\n');
}

function python({ verb, target, credential, body, idempotent }: Call): string {
  const headers = [
    `"Authorization": "Bearer " + os.environ["${credential}"]`,
    ...(idempotent ? ['"Idempotency-Key": str(uuid.uuid4())'] : []),
    ...(body === undefined ? [] : ['"Content-Type": "application/json"']),
  ];
  return [
    `import json, os, urllib.request${idempotent ? ', uuid' : ''}`,
    '',
    'request = urllib.request.Request(',
    `    os.environ["TRUCKROLL_URL"] + "${target}",`,
    ...(verb === 'GET' ? [] : [`    method="${verb}",`]),
    ...(headers.length === 1 ? [`    headers={${headers[0]}},`] : ['    headers={', ...headers.map((line) => `        ${line},`), '    },']),
    ...(body === undefined ? [] : [`    data=json.dumps(${indented(pythonic(body), '    ')}).encode(),`]),
    ')',
    'with urllib.request.urlopen(request) as response:',
    '    print(json.load(response))',
  ].join('\n');
}

function indented(text: string, by: string): string {
  return text.replaceAll('\n', `\n${by}`);
}

/** JSON as Python: replaces true, false and null at the end of a line. */
function pythonic(json: string): string {
  const words: Record<string, string> = { true: 'True', false: 'False', null: 'None' };
  return json.replace(/^(.*(?:: |^\s*))(true|false|null)(,?)$/gm, (_, before: string, word: string, comma: string) => `${before}${words[word]}${comma}`);
}
