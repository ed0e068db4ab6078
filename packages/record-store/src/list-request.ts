/** A decoded list request: `collection` and the record's own filters. */
export interface ListRequest {
  collection: {
    company_id: string;
    time_zone: string;
    limit: number;
    after: Uint8Array;
  } & Record<string, unknown>;
  [filter: string]: unknown;
}
