// The fields of a record that a plan sets, typed by the messages generated from the contract.

type Prefix<E extends string> = E extends `${infer P}UNSPECIFIED` ? P : never;
type Bare<E extends string, P extends string> = E extends `${P}${infer S}` ? Exclude<S, 'UNSPECIFIED'> : never;

/** The public spellings of a generated enumeration: `OPEN` for `INVOICE_STATUS_OPEN`. */
export type Spelled<E extends string> = Bare<E, Prefix<E>>;

type One<T> = [T] extends [string]
  ? string extends T
    ? string
    : Spelled<T> | Lowercase<Spelled<T>>
  : T extends readonly (infer U)[]
    ? readonly One<U>[]
    : T extends { values: readonly (infer U)[] }
      ? readonly One<U>[]
      : T extends object
        ? Given<T>
        : T;

/** A record's fields as in JSON, but with instants in microseconds. Missing fields are generated, except within nested objects. */
export type Given<M> = { readonly [F in keyof M]?: One<NonNullable<M[F]>> | Extract<M[F], null> };

/** The same without missing fields: an object within a record. */
export type Whole<M> = Required<Given<M>>;
