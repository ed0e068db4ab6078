export interface ListRequest {
  collection: {
    company_id: string;
    time_zone: string;
    limit: number;
    after: Uint8Array;
  } & Record<string, unknown>;
  [filter: string]: unknown;
}
