-- Whether a service request was ever booked for the visit: most were not, and their writes need not look.
alter table job_appointments add column booked boolean not null default false;
update job_appointments v set booked = true
  from service_requests r where r.company_id = v.company_id and r.appointment_id = v.id;
