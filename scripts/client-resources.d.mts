/** An operation of the API, as a method of a resource. */
export interface ResourceMethod {
  readonly verb: string;
  readonly path: string;
  readonly operation: any;
  /** Names in the path. */
  readonly parameters: readonly string[];
  readonly input: 'query' | 'body' | undefined;
  /** Whether a query or body must be given. */
  readonly required: boolean;
  /** Whether it lists records or rows. */
  readonly iterates: boolean;
}

/** Both Maps are by name as in paths. */
export interface ResourceTree {
  readonly methods: ReadonlyMap<string, ResourceMethod>;
  readonly children: ReadonlyMap<string, ResourceTree>;
}

export function resourcesOf(description: any): ResourceTree;

/** The parameters themselves, where the operation refers to shared ones. */
export function parametersOf(operation: any, components: any): any[];

/** Schemas of what programs send: of filters, and of fields of bodies. */
export function inputsOf(description: any): any[];
