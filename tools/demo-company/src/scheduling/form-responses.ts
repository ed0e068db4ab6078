import type { FormResponse } from '@truckroll/contract/gen/scheduling/v1/form_responses';
import type { Company, JobPlan, VisitPlan } from '../company.ts';
import { Rota, drawOf, idOf, stream, type Draw } from '../random.ts';
import { MINUTE, SECOND } from '../time.ts';
import { AD_HOC_FORM, ANSWERS, FORMS, LABELS, type Form } from '../words/forms.ts';
import { VISITS, crewOf } from './visits.ts';
import { makerOf } from '../shapes/maker.ts';

const make = makerOf<FormResponse>('form-responses');
const RESPONSES = stream('form responses');
const FORM_IDS = stream('forms');
const QUESTIONS = stream('form questions');
const PHOTOS = stream('photos');

type Capture = 'none' | 'one' | 'two' | 'partial' | 'unsupported';

/** Whether and how often the planned form was filled in, and whether its capture is readable. */
const CAPTURES = new Rota<Capture>('captures', { none: 6, one: 10, two: 1, partial: 2, unsupported: 1 });

const NAMES = [...Object.values(FORMS).map(({ name }) => name as string), AD_HOC_FORM.name];

const RESPONSES_PER_VISIT = 4;

export function* buildFormResponses(company: Company, plan: JobPlan) {
  for (const visit of plan.visits) {
    if (visit.canceled || visit.startsAt > company.until || visit.startsAt < company.clockedSince) continue;
    const draw = drawOf(company, RESPONSES, visit.index);
    const capture = CAPTURES.at(company.seed, visit.index);
    const copies = capture === 'none' ? 0 : capture === 'two' ? 2 : 1;
    for (let copy = 0; copy < copies; copy++) {
      yield buildResponse(company, plan, visit, copy, FORMS[plan.type.trade], capture, draw);
    }
    if (draw.chance(0.08)) yield buildResponse(company, plan, visit, copies, AD_HOC_FORM, 'one', draw);
  }
}

function buildResponse(company: Company, plan: JobPlan, visit: VisitPlan, r: number, form: Form, capture: Capture, draw: Draw) {
  const number = visit.index * RESPONSES_PER_VISIT + r;
  const adHoc = form === AD_HOC_FORM;
  const crew = crewOf(company, plan, visit);
  const createdAt = Math.min(company.until, visit.startsAt + draw.between(5, 30) * MINUTE + draw.below(SECOND));
  const questions = capture === 'unsupported' ? null : questionsOf(company, form, number, capture === 'partial', draw);
  return make(
    { company, n: number, job: plan },
    {
      id: idOf(company, RESPONSES, number),
      form_id: idOf(company, FORM_IDS, NAMES.indexOf(form.name)),
      name: form.name,
      instance_number: adHoc ? 1 : r + 1,
      label: draw.pick(LABELS),
      ad_hoc: adHoc,
      appointment_id: idOf(company, VISITS, visit.index),
      last_edited_by: crew[0]?.member.ref ?? draw.pick(company.members.technicians).ref,
      created_at: createdAt,
      updated_at: Math.min(company.until, createdAt + draw.below(60) * MINUTE),
      completed: questions && questions.every(({ required, value }) => !required || value !== null),
      questions,
    },
  );
}

/** A partial capture leaves its last required question unanswered. */
function questionsOf(company: Company, form: Form, response: number, partial: boolean, draw: Draw) {
  const open = partial ? form.questions.findLastIndex(({ required }) => required) : -1;
  let section = -1;
  let inSection = 0;
  return form.questions.map((question, q) => {
    const begins = question.section !== form.questions[q - 1]?.section;
    section += begins ? 1 : 0;
    inSection = begins ? 0 : inSection + 1;
    const answered = q !== open && (question.required || draw.chance(0.5));
    const answer = draw.pick(ANSWERS[question.type]);
    const photo = question.photo === 'REQUIRED' || (question.photo === 'OPTIONAL' && draw.chance(0.4));
    return {
      question_id: draw.orNull(0.05, idOf(company, QUESTIONS, NAMES.indexOf(form.name), q)),
      answer_path: `/sections/${section}/questions/${inSection}`,
      section: question.section,
      label: question.label,
      type: question.type,
      required: question.required,
      helper_text: question.helper,
      value: answered ? answer : null,
      photo_requirement: question.photo,
      attached_photo_url: photo && answered ? `https://photos.example.com/${idOf(company, PHOTOS, response, q)}.jpg` : null,
    };
  });
}
