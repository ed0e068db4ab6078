/**
 * The public records as api.md and decisions §1 have them, less what is derived: a key with `?` may be null, a value is
 * the name of an enumeration or of a kind of scalar, an object, or a list of one of them.
 */
export type Shape = string | { readonly [key: string]: Shape } | readonly [Shape];

const ref = { id: 'uuid', name: 'text' };
const address = {
  id: 'uuid', formatted: 'text', line_1: 'text', 'line_2?': 'text', city: 'text', state: 'text', postal_code: 'text',
};
const times = { created_at: 'ts', updated_at: 'ts' };

const bill = {
  line_items: [{
    id: 'uuid', position: 'int', name: 'text', description: 'text', quantity: 'number', unit_price_cents: 'int',
    subtotal_cents: 'int', taxable: 'bool', discountable: 'bool',
  }],
  discounts: [{ id: 'uuid', name: 'text', type: 'DiscountType', 'amount_cents?': 'int', 'rate?': 'number' }],
  tax: { name: 'text', rate: 'number', rounding: 'TaxRounding' },
  amounts: {
    subtotal_cents: 'int', discount_cents: 'int', discounted_subtotal_cents: 'int', tax_cents: 'int',
    total_cents: 'int',
  },
} as const;

export const SHAPES: Readonly<Record<string, Shape>> = {
  'team-members': {
    id: 'uuid', name: 'text', first_name: 'text', last_name: 'text', 'email?': 'text', 'phone?': 'phone', role: 'Role',
    'title?': 'text',
    status: 'MemberStatus', assignable: 'bool', 'business_unit?': ref, tags: [ref], 'color?': 'color', ...times,
  },
  accounts: {
    id: 'uuid', name: 'text', type: 'AccountType', archived: 'bool', 'company_name?': 'text', 'phone?': 'phone',
    'email?': 'text',
    'billing_address?': address, 'primary_contact?': ref, 'lead_source?': ref, tags: [ref], do_not_service: 'bool',
    notifications_enabled: 'bool', 'merged_into_id?': 'uuid', 'created_by?': ref, ...times,
  },
  contacts: {
    id: 'uuid', account: ref, name: 'text', 'first_name?': 'text', 'last_name?': 'text', 'title?': 'text',
    is_primary: 'bool',
    archived: 'bool', 'primary_channel?': { type: 'ChannelType', value: 'text' },
    channels: [{ id: 'uuid', type: 'ChannelType', value: 'text', is_primary: 'bool', opted_out: 'bool' }], ...times,
  },
  locations: {
    id: 'uuid', name: 'text', address, property_type: 'text', municipality: 'text', estimated_square_footage: 'int',
    'estimated_build_date?': 'date', 'description?': 'text', accounts: [{ account: ref, archived: 'bool' }],
    'latitude?': 'number',
    'longitude?': 'number', created_by: ref, ...times,
  },
  jobs: {
    id: 'uuid', number: 'text', 'summary?': 'text', account: ref, location_id: 'uuid', 'contact?': ref,
    'business_unit?': ref,
    'job_type?': ref, 'job_class?': 'JobClass', lifecycle: ref,
    status: { id: 'uuid', name: 'text', stage: 'Stage', is_work_complete: 'bool' }, priority: 'Priority',
    'lead_source?': ref,
    tags: [ref], 'sold_by?': ref, 'job_lead_id?': 'uuid', 'estimate_id?': 'uuid', 'original_job_id?': 'uuid',
    'maintenance_plan_id?': 'uuid', 'completed_at?': 'ts', 'canceled_at?': 'ts', 'cancellation_reason?': 'text',
    'created_by?': ref, ...times,
  },
  'job-appointments': {
    id: 'uuid', number: 'text', job_id: 'uuid', type: 'text', description: 'text', window_start_at: 'ts',
    window_end_at: 'ts',
    confirmed: 'bool', canceled: 'bool', 'cancellation_reason?': 'text', 'cancellation_note?': 'text', created_by: ref,
    ...times,
    kind: 'text', starts_at: 'ts', ends_at: 'ts',
  },
  'job-assignments': {
    id: 'uuid', job_id: 'uuid', appointment_id: 'uuid', team_member: ref, starts_at: 'ts', ends_at: 'ts',
    status: 'AssignmentStatus',
    status_updated_at: 'ts', created_at: 'ts', 'updated_at?': 'ts',
  },
  'business-units': {
    id: 'uuid', name: 'text', 'official_name?': 'text', 'email?': 'text', 'phone?': 'phone', 'address?': address,
    'archived_at?': 'ts', ...times,
  },
  'job-types': {
    id: 'uuid', name: 'text', description: 'text', lifecycle: ref, job_class: 'JobClass', default_business_unit: ref,
    duration_minutes: 'int', is_opportunity: 'bool', 'archived_at?': 'ts', ...times,
  },
  'job-classes': { id: 'JobClass', name: 'text', group: 'JobClassGroup', legacy: 'bool' },
  'job-lifecycles': {
    id: 'uuid', name: 'text', description: 'text', type: 'LifecycleType', archived: 'bool',
    statuses: [{
      id: 'uuid', name: 'text', description: 'text', stage: 'Stage', 'special_status?': 'SpecialStatus',
      is_default: 'bool',
      is_work_complete: 'bool', is_lead_won: 'bool',
    }], ...times,
  },
  'lead-sources': { id: 'uuid', name: 'text', 'category?': 'text', 'archived_at?': 'ts', ...times },
  tags: { id: 'uuid', name: 'text', 'color?': 'color', applies_to: ['TagTarget'], 'archived_at?': 'ts', ...times },
  'job-leads': {
    id: 'uuid', number: 'text', 'summary?': 'text', 'account?': ref, 'contact?': ref, 'location_id?': 'uuid',
    'business_unit?': ref,
    'job_type?': ref, 'lead_source?': ref, lifecycle: ref,
    status: { id: 'uuid', name: 'text', stage: 'Stage', is_lead_won: 'bool' },
    outcome: 'LeadOutcome', priority: 'Priority', 'assigned_to?': ref, 'follow_up_on?': 'date', tags: [ref],
    'job_id?': 'uuid',
    'won_at?': 'ts', 'lost_at?': 'ts', 'lost_reason?': 'text', ...times,
  },
  equipment: {
    id: 'uuid', name: 'text', 'type?': 'text', status: 'EquipmentStatus', location_id: 'uuid', 'account?': ref,
    'manufacturer?': 'text',
    'model?': 'text', 'serial_number?': 'text', 'installed_on?': 'date', 'install_job_id?': 'uuid',
    'removed_on?': 'date',
    'manufacturer_warranty_starts_on?': 'date', 'manufacturer_warranty_ends_on?': 'date',
    'labor_warranty_starts_on?': 'date',
    'labor_warranty_ends_on?': 'date', 'notes?': 'text', ...times,
  },
  'form-responses': {
    id: 'uuid', form_id: 'uuid', name: 'text', instance_number: 'int', label: 'text', ad_hoc: 'bool',
    appointment_id: 'uuid',
    job_id: 'uuid', account_id: 'uuid', location_id: 'uuid', last_edited_by: ref, ...times, 'completed?': 'bool',
    'questions?': [{
      'question_id?': 'uuid', answer_path: 'text', section: 'text', label: 'text', type: 'text', required: 'bool',
      'helper_text?': 'text', 'value?': 'text', photo_requirement: 'text', 'attached_photo_url?': 'text',
    }],
  },
  'time-entries': {
    id: 'uuid', team_member: ref, 'timesheet_id?': 'uuid', 'job_id?': 'uuid', 'appointment_id?': 'uuid',
    'assignment_id?': 'uuid',
    activity: 'Activity', source: 'TimeSource', starts_at: 'ts', 'ends_at?': 'ts', 'duration_minutes?': 'int', paid: 'bool', 'note?': 'text',
    'edited_by?': ref,
    ...times,
  },
  timesheets: {
    id: 'uuid', team_member: ref, period_start: 'date', period_end: 'date', status: 'TimesheetStatus',
    'submitted_at?': 'ts',
    'approved_at?': 'ts', 'approved_by?': ref, ...times,
  },
  estimates: {
    id: 'uuid', number: 'text', name: 'text', status: 'EstimateStatus', account: ref, location_id: 'uuid',
    'job_id?': 'uuid',
    'appointment_id?': 'uuid', 'job_lead_id?': 'uuid', 'business_unit?': ref, 'job_type?': ref,
    'job_class?': 'JobClass',
    currency: 'usd',
    options: [{ id: 'uuid', name: 'text', position: 'int', status: 'OptionStatus', recommended: 'bool', ...bill }],
    'sold_at?': 'ts', 'sold_by?': ref, 'sent_at?': 'ts', 'expires_at?': 'ts', 'created_by?': ref, ...times,
  },
  invoices: {
    id: 'uuid', number: 'text', status: 'InvoiceStatus', account: ref, 'job_id?': 'uuid', 'location_id?': 'uuid',
    'maintenance_plan_id?': 'uuid', 'business_unit?': ref, 'job_type?': ref, 'created_by?': ref,
    'job_class?': 'JobClass', ...times,
    'issued_at?': 'ts', 'due_at?': 'ts', currency: 'usd', pricing_multiplier: 'number', ...bill,
  },
  payments: {
    id: 'uuid', 'number?': 'text', account: ref, 'status?': 'PaymentStatus', method: 'PaymentMethod',
    amount_cents: 'int',
    currency: 'usd', occurred_at: 'ts', created_at: 'ts', 'updated_at?': 'ts', 'collected_by?': ref,
    invoice_allocations: [{ invoice_id: 'uuid', applied_cents: 'int' }],
  },
  refunds: {
    id: 'uuid', payment_id: 'uuid', account: ref, status: 'RefundStatus', amount_cents: 'int', currency: 'usd',
    occurred_at: 'ts',
    created_at: 'ts', payment_method: 'PaymentMethod', 'collected_by?': ref,
  },
  'job-financials': {
    id: 'uuid', number: 'text', account: ref, location_id: 'uuid', 'business_unit?': ref, 'job_type?': ref,
    'job_class?': 'JobClass',
    created_at: 'ts', report_date: 'date', report_date_basis: 'ReportDateBasis',
    costing: { tracking_status: 'Tracking', verification_status: 'Verification', job_type_included: 'bool' },
    currency: 'usd',
    cost_entries: [{
      id: 'uuid', category: 'CostCategory', source: 'text', name: 'text', quantity: 'number', quantity_unit: 'text',
      unit_cost_cents: 'int', total_cents: 'int', 'labor_activity?': 'text', 'misc_category?': 'text',
      'pricebook_item_id?': 'uuid',
      ...times,
    }],
  },
  'revenue-attributions': {
    id: 'uuid', job_id: 'uuid', 'invoice_id?': 'uuid', 'estimate_id?': 'uuid', team_member: ref,
    credit_type: 'CreditType',
    share: 'number', amount_cents: 'int', currency: 'usd', basis: 'CreditBasis', source: 'CreditSource',
    attributed_on: 'date',
    'saved_by?': ref, ...times,
  },
};
