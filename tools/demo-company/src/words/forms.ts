export interface Question {
  readonly section: string;
  readonly label: string;
  readonly type: 'YES_NO' | 'PASS_FAIL_FLAG' | 'TEXT' | 'NUMBER';
  readonly required: boolean;
  readonly helper: string | null;
  readonly photo: 'NONE' | 'OPTIONAL' | 'REQUIRED';
}

export interface Form {
  readonly name: string;
  readonly questions: readonly Question[];
}

const ask = (
  section: string,
  label: string,
  type: Question['type'],
  required = true,
  photo: Question['photo'] = 'NONE',
  helper: string | null = null,
): Question => ({ section, label, type, required, helper, photo });

const COMPLETION = [
  ask('Completion', 'Area left clean?', 'YES_NO', true, 'OPTIONAL'),
  ask('Completion', 'What should we know next time?', 'TEXT', false, 'NONE', 'The customer does not see this.'),
];

export const FORMS = {
  cooling: {
    name: 'AC service checklist',
    questions: [
      ask('Outdoor unit', 'Condenser coil', 'PASS_FAIL_FLAG', true, 'OPTIONAL'),
      ask('Outdoor unit', 'Capacitor within ±6 %', 'PASS_FAIL_FLAG', true, 'REQUIRED', 'Microfarads are on the label'),
      ask('Indoor unit', 'Supply temperature, °F', 'NUMBER'),
      ask('Indoor unit', 'Drain line flushed?', 'YES_NO'),
      ...COMPLETION,
    ],
  },
  heating: {
    name: 'Furnace safety check',
    questions: [
      ask('Combustion', 'Heat exchanger', 'PASS_FAIL_FLAG', true, 'REQUIRED'),
      ask('Combustion', 'CO in flue, ppm', 'NUMBER', true, 'NONE', 'Above 100 ppm: shut off and call the office'),
      ask('Controls', 'Safety switches', 'PASS_FAIL_FLAG'),
      ...COMPLETION,
    ],
  },
  maintenance: {
    name: 'Tune-up report',
    questions: [ask('Report', 'Filter replaced?', 'YES_NO'), ask('Report', 'Condition in general', 'PASS_FAIL_FLAG', true, 'OPTIONAL'), ...COMPLETION],
  },
  plumbing: {
    name: 'Plumbing work order',
    questions: [ask('Work', 'Static pressure, psi', 'NUMBER', false), ask('Work', '¿Se probó sin fugas?', 'YES_NO'), ...COMPLETION],
  },
  electrical: {
    name: 'Electrical inspection',
    questions: [ask('Panel', 'Torque checked', 'PASS_FAIL_FLAG'), ask('Panel', 'Photo of the directory', 'TEXT', false, 'REQUIRED'), ...COMPLETION],
  },
  install: {
    name: 'Commissioning report ✔︎',
    questions: [
      ask('Start-up', 'Vacuum held below 500 µm', 'PASS_FAIL_FLAG', true, 'REQUIRED'),
      ask('Start-up', 'Permit posted?', 'YES_NO', true, 'OPTIONAL', 'City inspector wants to see it from the street'),
      ask('Start-up', 'Serial numbers', 'TEXT'),
      ...COMPLETION,
    ],
  },
} as const satisfies Record<string, Form>;

export const AD_HOC_FORM: Form = {
  name: 'Photos & notes',
  questions: [ask('Notes', 'Note', 'TEXT', false, 'OPTIONAL'), ask('Notes', 'Second note', 'TEXT', false, 'OPTIONAL')],
};

export const ANSWERS = {
  YES_NO: ['YES', 'YES', 'YES', 'NO'],
  PASS_FAIL_FLAG: ['PASS', 'PASS', 'PASS', 'FAIL', 'FLAG'],
  TEXT: ['OK', 'n/a', 'Customer’s dog is friendly 🐶', '温度正常', 'SN 4821-K\nSN 4822-K', '2" gap & "loose" strap', 'تم الفحص'],
  NUMBER: ['55', '58.5', '0', '72', '102'],
} as const;

export const LABELS = ['', 'Unit 1', 'Unit 2', 'Attic', 'Máquina de arriba'] as const;
