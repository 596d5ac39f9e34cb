// Cron expressions to schedules: one set of numbers for each field.

export class CronError extends Error {
  name = 'CronError';
}

const MONTHS = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ');
const DAYS = 'sun mon tue wed thu fri sat'.split(' ');

const FIELDS = [
  { name: 'minute', min: 0, max: 59 },
  { name: 'hour', min: 0, max: 23 },
  { name: 'day', min: 1, max: 31 },
  { name: 'month', min: 1, max: 12, names: MONTHS },
  { name: 'weekday', min: 0, max: 7, names: DAYS },
];

// In a leap year, as the 29th of February comes at some time.
const LONGEST = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

export function parse(expression) {
  const texts = expression.trim().split(/\s+/);
  if (texts.length !== FIELDS.length) {
    throw new CronError(`expected ${FIELDS.length} fields: ${expression}`);
  }
  const schedule = {};
  FIELDS.forEach((field, index) => {
    schedule[field.name] = parseField(texts[index], field);
  });

  // Both are Sunday.
  if (schedule.weekday.delete(7)) schedule.weekday.add(0);

  // Cron goes by how the day fields are written, not by which days they name.
  const [, , day, , weekday] = texts;
  schedule.eitherDay = !day.startsWith('*') && !weekday.startsWith('*');

  const firstDay = Math.min(...schedule.day);
  const fits = (month) => firstDay <= LONGEST[month - 1];
  // With either of the days, every month has a day of the week that matches.
  if (!schedule.eitherDay && ![...schedule.month].some(fits)) {
    throw new CronError(`never runs: ${expression}`);
  }
  return schedule;
}

function parseField(text, field) {
  const values = new Set();
  for (const item of text.split(',')) {
    const match = /^(\*|(\w+)(?:-(\w+))?)(?:\/(\d+))?$/.exec(item);
    if (!match) throw new CronError(`cannot read ${field.name}: ${text}`);
    const [, range, first, last, stepText] = match;
    if (stepText !== undefined && range !== '*' && last === undefined) {
      throw new CronError(`a step needs a range: ${text}`);
    }

    const step = Number(stepText ?? 1);
    const from = range === '*' ? field.min : parseValue(first, field);
    const to = range === '*' ? field.max : parseValue(last ?? first, field);
    if (step === 0 || from > to) {
      throw new CronError(`empty range in ${field.name}: ${text}`);
    }
    for (let value = from; value <= to; value += step) values.add(value);
  }
  return values;
}

function parseValue(text, field) {
  const index = field.names?.indexOf(text.toLowerCase()) ?? -1;
  const value = index >= 0 ? index + field.min : Number(text);
  if (!(value >= field.min && value <= field.max)) {
    throw new CronError(`no ${field.name}: ${text}`);
  }
  return value;
}
