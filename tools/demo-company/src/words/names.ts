/** People. The last rows of each list are there to be awkward: accents, other scripts and directions, quotes, emoji. */

export const FIRST_NAMES = [
  'James', 'Mary', 'Robert', 'Patricia', 'Michael', 'Linda', 'David', 'Elizabeth', 'William', 'Barbara', 'Richard',
  'Susan', 'Thomas', 'Jessica', 'Charles', 'Karen', 'Daniel', 'Nancy', 'Matthew', 'Lisa', 'Anthony', 'Betty', 'Mark',
  'Sandra', 'Steven', 'Ashley', 'Andrew', 'Emily', 'Kenneth', 'Donna', 'Joshua', 'Michelle', 'Kevin', 'Carol',
  'Brian', 'Amanda', 'Maria', 'Luis', 'Guadalupe', 'Priya', 'Minh', 'Aisha', 'Terrence', 'Keisha', 'Wei', 'Olga',
  'José', 'Zoë', 'Renée', 'Łukasz', 'Søren', 'Siobhán', 'D’Andre', 'Anne-Marie',
] as const;

export const LAST_NAMES = [
  'Smith', 'Johnson', 'Williams', 'Brown', 'Jones', 'Garcia', 'Miller', 'Davis', 'Rodriguez', 'Martinez', 'Hernandez',
  'Lopez', 'Wilson', 'Anderson', 'Thomas', 'Taylor', 'Moore', 'Jackson', 'Martin', 'Lee', 'Perez', 'Thompson',
  'White', 'Harris', 'Sanchez', 'Clark', 'Ramirez', 'Lewis', 'Robinson', 'Walker', 'Young', 'Allen', 'King', 'Wright',
  'Nguyen', 'Hill', 'Flores', 'Green', 'Adams', 'Nelson', 'Baker', 'Patel', 'Kim', 'Okafor', 'Kowalski',
  'Núñez', 'O’Brien', "D'Angelo", 'Müller', 'Çelik', 'Ångström', 'van der Berg', 'Smith-Jones', 'Nguyễn',
] as const;

/** Whole names in other scripts: first name, last name, name as shown. */
export const OTHER_SCRIPTS = [
  ['小明', '王', '王小明'],
  ['さくら', '田中', '田中 さくら'],
  ['민수', '김', '김민수'],
  ['محمد', 'الأحمد', 'محمد الأحمد'],
  ['יעל', 'כהן', 'יעל כהן'],
  ['Дмитрий', 'Соколов', 'Дмитрий Соколов'],
  ['Jose\u0301', 'Pen\u0303a', 'Jose\u0301 Pen\u0303a'],
  ['🐝 Bea', 'Honeycutt', '🐝 Bea Honeycutt'],
] as const;

export const BUSINESS_FIRST = [
  'Lakeside', 'Northgate', 'Blue Heron', 'Cedar Hill', 'Main Street', 'Riverbend', 'Summit', 'Oak & Iron', 'Pioneer',
  'Sunrise', 'Granite', 'Harbor', 'Twin Pines', 'Old Mill', 'Redbud', 'Prairie', 'Juniper', 'Stonebridge',
  'Café Olé ☕', '老北京', 'São Paulo', 'Señor Taco', '"The Corner"', '100% Pure', 'Fjord & Sons', 'בית קפה',
] as const;

export const BUSINESS_KINDS = [
  ['Dental', 'Office'],
  ['Property Management LLC', 'Apartment building'],
  ['Grill', 'Restaurant'],
  ['Elementary School', 'School'],
  ['Warehouse Co.', 'Warehouse'],
  ['Fitness', 'Retail'],
  ['Church', 'Place of worship'],
  ['Veterinary Clinic', 'Office'],
  ['Self Storage, Inc.', 'Warehouse'],
  ['Market', 'Retail'],
] as const;

/** Lowercase ASCII for the local part of an e-mail address; empty when the script leaves nothing. */
function asciiHandle(name: string): string {
  return name.normalize('NFD').toLowerCase().replaceAll('ł', 'l').replaceAll('ø', 'o').replaceAll(/[^a-z]/g, '');
}

export const FIRST_HANDLES: readonly string[] = FIRST_NAMES.map(asciiHandle);
export const LAST_HANDLES: readonly string[] = LAST_NAMES.map(asciiHandle);
