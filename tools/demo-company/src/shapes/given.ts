// What a plan says of a record, typed by the messages that the contract generates.

type Prefix<E extends string> = E extends `${infer P}UNSPECIFIED` ? P : never;
type Bare<E extends string, P extends string> = E extends `${P}${infer S}` ? Exclude<S, 'UNSPECIFIED'> : never;

/** The public spellings of a generated enumeration: `OPEN` of `INVOICE_STATUS_OPEN`. */
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

/**
 * Fields of a record as JSON has them, but instants are microseconds. Fields that are left out follow from the shape; in an
 * object, which is given whole, they stay out.
 */
export type Given<M> = { readonly [F in keyof M]?: One<NonNullable<M[F]>> | Extract<M[F], null> };

/** The same with nothing left out: an object in a record. */
export type Whole<M> = Required<Given<M>>;
