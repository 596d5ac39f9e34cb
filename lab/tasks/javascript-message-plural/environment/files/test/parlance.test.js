import assert from 'node:assert/strict';
import test from 'node:test';

import { MessageError, format, parse } from '../src/index.js';

const say = (text, values = {}, locale = 'en') => format(parse(text), values, locale);

test('arguments', () => {
  assert.equal(say('{a} and { b }!', { a: 1, b: 'two' }), '1 and two!');
  assert.throws(() => say('{a}'), MessageError);
});

test('quotes', () => {
  assert.equal(say("It's '{'quoted'}', isn''t it?"), "It's {quoted}, isn't it?");
});

test('broken messages', () => {
  for (const text of ['{', '}', '{a', '{}', '{a b}']) {
    assert.throws(() => parse(text), MessageError, text);
  }
});
