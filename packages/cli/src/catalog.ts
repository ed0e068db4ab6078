/** A filter of a list or a report. */
export interface QueryOption {
  /** As the API spells it: `created_from`. */
  readonly name: string;
  readonly about: string;
  readonly values?: readonly string[];
  readonly many?: true;
  readonly required?: true;
}

export interface ListedKind {
  readonly about: string;
  /** Fields as paths, those of objects within objects included: `account.name`. */
  readonly fields: readonly string[];
  readonly list?: string;
  /** Whether the list comes in pages, with a limit. */
  readonly paged?: boolean;
  readonly options?: readonly QueryOption[];
  readonly get?: string;
}

export interface Report {
  readonly path: string;
  readonly about: string;
  readonly options: readonly QueryOption[];
}
