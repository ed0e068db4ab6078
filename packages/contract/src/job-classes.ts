// Names of the job classes: part of the contract, the same in every company (decisions §1).

export const JOB_CLASS_NAMES = Object.freeze({
  SERVICE: 'Service',
  MAINTENANCE: 'Maintenance',
  ESTIMATE_REPAIR: 'Repair estimate',
  ESTIMATE_REPLACE: 'Replacement estimate',
  INSTALL: 'Installation',
  WARRANTY: 'Warranty',
  CALLBACK: 'Callback',
  SALES: 'Sales',
  UNKNOWN: 'Unknown',
});
