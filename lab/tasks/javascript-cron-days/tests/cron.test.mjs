import assert from 'node:assert/strict';
import test from 'node:test';

const { CronError, next, parse } = await import('/app/src/index.js');

// The first `count` times after `start`, without seconds and zone.
function times(expression, start, count) {
  const schedule = parse(expression);
  const found = [];
  let date = new Date(start);
  for (let n = 0; n < count; n += 1) {
    date = next(schedule, date);
    found.push(date.toISOString().slice(0, 16));
  }
  return found;
}

// All days of a year on which the expression fires at midnight.
function days(expression, year) {
  const schedule = parse(expression);
  const found = [];
  let date = new Date(Date.UTC(year, 0, 1) - 1);
  for (;;) {
    date = next(schedule, date);
    if (date.getUTCFullYear() !== year) return found;
    found.push(date.toISOString().slice(5, 10));
  }
}

function daysWhere(year, predicate) {
  const found = [];
  for (
    let date = new Date(Date.UTC(year, 0, 1));
    date.getUTCFullYear() === year;
    date = new Date(date.getTime() + 86_400_000)
  ) {
    if (predicate(date.getUTCDate(), date.getUTCDay(), date.getUTCMonth() + 1)) {
      found.push(date.toISOString().slice(5, 10));
    }
  }
  return found;
}

test('the example', () => {
  assert.deepEqual(times('0 9 13 * 5', '2024-03-01T12:00:00Z', 4), [
    '2024-03-08T09:00', '2024-03-13T09:00', '2024-03-15T09:00', '2024-03-22T09:00',
  ]);
});

test('both fixed: either day', () => {
  assert.deepEqual(days('0 0 13 * 5', 2024), daysWhere(2024, (d, w) => d === 13 || w === 5));
  assert.deepEqual(
    days('0 0 1,10-12 * sat,sun', 2023),
    daysWhere(2023, (d, w) => d === 1 || (d >= 10 && d <= 12) || w === 6 || w === 0),
  );
  assert.deepEqual(
    days('0 0 1-31/10 2,8 wed', 2024),
    daysWhere(2024, (d, w, m) => (m === 2 || m === 8) && (d % 10 === 1 || w === 3)),
  );
});

test('fixed fields that name every day', () => {
  assert.equal(days('0 0 1-31 * 5', 2024).length, 366);
  assert.equal(days('0 0 13 * 0-6', 2024).length, 366);
  assert.equal(days('0 0 13 * 1-7', 2023).length, 365);
  assert.equal(days('0 0 13 * sun-sat', 2023).length, 365);
});

test('one or both open: both days', () => {
  assert.deepEqual(days('0 0 13 * *', 2024), daysWhere(2024, (d) => d === 13));
  assert.deepEqual(days('0 0 * * fri', 2024), daysWhere(2024, (d, w) => w === 5));
  assert.deepEqual(days('0 0 * * *', 2024).length, 366);
  assert.deepEqual(
    days('0 0 */2 * 1', 2024),
    daysWhere(2024, (d, w) => d % 2 === 1 && w === 1),
  );
  assert.deepEqual(
    days('0 0 13 * */5', 2024),
    daysWhere(2024, (d, w) => d === 13 && (w === 0 || w === 5)),
  );
  assert.deepEqual(
    days('0 0 */3 * */2', 2024),
    daysWhere(2024, (d, w) => d % 3 === 1 && w % 2 === 0),
  );
});

test('the beginning of the field counts', () => {
  assert.deepEqual(
    days('0 0 */10,30 * 1', 2024),
    daysWhere(2024, (d, w) => (d % 10 === 1 || d === 30) && w === 1),
  );
  // Here the star comes second: fixed.
  assert.deepEqual(
    days('0 0 30,*/10 * 1', 2024),
    daysWhere(2024, (d, w) => d % 10 === 1 || d === 30 || w === 1),
  );
});

test('sunday as 0, 7 and name', () => {
  const sundays = daysWhere(2024, (d, w) => d === 13 || w === 0);
  for (const name of ['0', '7', 'sun', 'SUN']) {
    assert.deepEqual(days(`0 0 13 * ${name}`, 2024), sundays);
  }
});

test('days that the month does not have, but a weekday', () => {
  assert.deepEqual(times('0 0 30 2 1', '2024-01-31T00:00:00Z', 5), [
    '2024-02-05T00:00', '2024-02-12T00:00', '2024-02-19T00:00', '2024-02-26T00:00',
    '2025-02-03T00:00',
  ]);
  assert.deepEqual(
    days('0 0 31 4,6 0-6', 2024),
    daysWhere(2024, (d, w, m) => m === 4 || m === 6),
  );
});

test('what never runs is refused', () => {
  for (const expression of [
    '0 0 30 2 *', '0 0 31 4,6 *', '0 0 31 4,6 */2', '0 0 30,31 2 */7',
  ]) {
    assert.throws(() => parse(expression), CronError, expression);
  }
  assert.equal(times('0 0 31 2,3 *', '2024-01-01T00:00:00Z', 1)[0], '2024-03-31T00:00');
});

test('leap days', () => {
  assert.deepEqual(times('0 0 29 2 *', '2024-02-29T00:00:00Z', 1), ['2028-02-29T00:00']);
  // Either: the Thursdays, too.
  assert.deepEqual(times('0 0 29 2 4', '2028-02-24T00:00:00Z', 2), [
    '2028-02-29T00:00', '2029-02-01T00:00',
  ]);
});

test('months and times still narrow down', () => {
  assert.deepEqual(times('15,45 8-18/10 1 jan fri', '2023-12-31T23:59:59Z', 5), [
    '2024-01-01T08:15', '2024-01-01T08:45', '2024-01-01T18:15', '2024-01-01T18:45',
    '2024-01-05T08:15',
  ]);
});

test('strictly after, to the minute', () => {
  assert.deepEqual(times('0 9 13 * 5', '2024-03-08T09:00:00Z', 1), ['2024-03-13T09:00']);
  assert.deepEqual(times('0 9 13 * 5', '2024-03-08T08:59:59.999Z', 1), ['2024-03-08T09:00']);
  assert.deepEqual(times('*/15 * * * *', '2024-12-31T23:46:10Z', 2), [
    '2025-01-01T00:00', '2025-01-01T00:15',
  ]);
});

test('white space around and between', () => {
  assert.deepEqual(times('  0  9 13\t* 5 ', '2024-03-01T12:00:00Z', 1), ['2024-03-08T09:00']);
});

test('a schedule can be used again', () => {
  const schedule = parse('0 0 13 * 5');
  const start = new Date('2024-03-01T12:00:00Z');
  const first = next(schedule, start).getTime();
  next(schedule, new Date('2030-01-01T00:00:00Z'));
  assert.equal(next(schedule, start).getTime(), first);
  assert.equal(start.toISOString(), '2024-03-01T12:00:00.000Z');
});

test('errors', () => {
  for (const expression of [
    '', '* * * *', '* * * * * *', '60 * * * *', '* 24 * * *', '* * 0 * 1',
    '* * 32 * 1', '* * * 13 *', '* * * * 8', '* * * * foo', '5/2 * * * *',
    '*/0 * * * *', '5-1 * * * *', '* * ,1 * *', '* * ** * 1', '* * *-3 * 1',
  ]) {
    assert.throws(() => parse(expression), CronError, expression);
  }
});
