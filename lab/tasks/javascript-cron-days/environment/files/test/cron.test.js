import assert from 'node:assert/strict';
import test from 'node:test';

import { CronError, next, parse } from '../src/index.js';

const after = (expression, date) =>
  next(parse(expression), new Date(date)).toISOString();

test('the next weekday', () => {
  assert.equal(
    after('30 6 * * mon-fri', '2024-03-01T06:30:00Z'),
    '2024-03-04T06:30:00.000Z',
  );
});

test('the next leap year', () => {
  assert.equal(after('0 0 29 2 *', '2024-03-01T00:00:00Z'), '2028-02-29T00:00:00.000Z');
});

test('what never runs is refused', () => {
  assert.throws(() => parse('0 0 30 2 *'), CronError);
});
