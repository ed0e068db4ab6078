// The resources of the clients, derived from the paths of the OpenAPI description: /v1/job-assignments is `jobAssignments` with `list`, `get`,
// `create` and `delete`. Clients of every language have the same names, each in its own spelling.

const VERBS = ['get', 'post', 'put', 'patch', 'delete'];
/** Clients read the change feed by `changes`, `sync` and `verify` instead. */
const FEED = '/api/v1/integrations/changes';

/** Words of a path without its prefix and parameters. */
const wordsOf = (path) => segmentsOf(path).filter((segment) => !isParameter(segment));
const segmentsOf = (path) => path.replace(/^\/(api\/v1\/integrations|api\/v1|v1)\//, '').split('/');
const isParameter = (segment) => segment.startsWith('{');

/** `job-assignments` as `jobAssignments`. */
export const camelCased = (word) => word.replace(/-(.)/g, (_, letter) => letter.toUpperCase());

/**
 * The resources as a tree: { methods, children }, both Maps by name as in paths. A method is { verb, path, operation, parameters, input,
 * required, iterates }; `input` is `query`, `body` or undefined, `parameters` the names in the path, `iterates` whether it lists.
 */
export function resourcesOf({ paths, components }) {
  const root = { methods: new Map(), children: new Map() };
  for (const [path, verbs] of Object.entries(paths)) {
    if (path.startsWith(FEED)) continue;
    for (const verb of VERBS.filter((each) => verbs[each] !== undefined)) {
      const { place, name } = placeOf(path, verb, verbs[verb].operationId, paths);
      let node = root;
      for (const word of place) {
        const child = node.children.get(word) ?? { methods: new Map(), children: new Map() };
        node.children.set(word, child);
        node = child;
      }
      if (node.methods.has(name) || node.children.has(name)) throw new Error(`two operations are called ${[...place, name].join('.')}`);
      node.methods.set(name, methodOf(path, verb, { ...verbs[verb], parameters: parametersOf(verbs[verb], components) }));
    }
  }
  return root;
}

/** A last word that no parameter ever follows names an action of what is before it, as in /webhooks/{id}/health. */
function placeOf(path, verb, operationId, paths) {
  const words = wordsOf(path);
  const segments = segmentsOf(path);
  const last = segments.at(-1);
  const holdsRecords = Object.keys(paths).some((each) => each.startsWith(`${path}/{`));
  if (words.length > 1 && !isParameter(last) && !holdsRecords) return { place: words.slice(0, -1), name: last };
  const lists = operationId.startsWith('list');
  return { place: words, name: { get: lists ? 'list' : 'get', post: 'create', put: 'save', patch: 'update', delete: 'delete' }[verb] };
}

/** The parameters themselves, where the operation refers to shared ones. */
export function parametersOf({ parameters = [] }, components) {
  return parameters.map((each) => (each.$ref === undefined ? each : components.parameters[each.$ref.split('/').at(-1)]));
}

/** Schemas of what programs send: of filters, and of fields of bodies. */
export function inputsOf({ paths, components }) {
  return Object.values(paths)
    .flatMap((verbs) => Object.values(verbs))
    .flatMap((operation) => {
      const body = operation.requestBody?.content['application/json'].schema.$ref.split('/').at(-1);
      const filters = parametersOf(operation, components).filter((each) => each.in === 'query');
      return [...filters.map(({ schema }) => schema), ...Object.values(components.schemas[body]?.properties ?? {})];
    });
}

function methodOf(path, verb, operation) {
  const { parameters, requestBody, operationId, responses } = operation;
  const query = parameters.filter((each) => each.in === 'query');
  const input = requestBody !== undefined ? 'body' : query.length > 0 ? 'query' : undefined;
  return {
    verb,
    path,
    operation,
    parameters: segmentsOf(path)
      .filter(isParameter)
      .map((segment) => segment.slice(1, -1)),
    input,
    required: requestBody?.required ?? query.some(({ required }) => required),
    // Lists and reports, whose answers have an array of records or rows.
    iterates: operationId.startsWith('list') || (path.startsWith('/v1/reports/') && responses['200'] !== undefined),
  };
}
