import assert from 'node:assert/strict';
import test from 'node:test';

const { MessageError, format, parse } = await import('/app/src/index.js');

const say = (text, values = {}, locale = 'en') => format(parse(text), values, locale);

const FILES = '{count, plural, =0 {No files} one {# file} other {# files}}';

test('plural', () => {
  assert.equal(say(FILES, { count: 0 }), 'No files');
  assert.equal(say(FILES, { count: 1 }), '1 file');
  assert.equal(say(FILES, { count: 2 }), '2 files');
  assert.equal(say(FILES, { count: 1.5 }), '1.5 files');
  assert.equal(say(FILES, { count: 12345 }), '12345 files');
  assert.equal(say(FILES, { count: -1 }), '-1 file');
  assert.equal(say(`Found: ${FILES}.`, { count: 3 }), 'Found: 3 files.');
});

test('the exact number comes first, wherever it stands', () => {
  const text = '{n, plural, one {one} =1 {exactly one} other {other} =07 {seven}}';
  assert.equal(say(text, { n: 1 }), 'exactly one');
  assert.equal(say(text, { n: 7 }), 'seven');
  assert.equal(say(text, { n: 8 }), 'other');
  assert.equal(say(text, { n: 1.5 }), 'other');
  assert.equal(say('{n, plural, =0 {none} other {#}}', { n: -0 }), 'none');
});

test('categories of the locale', () => {
  const text = '{n, plural, one {# soubor} few {# soubory} many {# souboru} other {# souborov}}';
  assert.equal(say(text, { n: 1 }, 'cs'), '1 soubor');
  assert.equal(say(text, { n: 3 }, 'cs'), '3 soubory');
  assert.equal(say(text, { n: 1.5 }, 'cs'), '1.5 souboru');
  assert.equal(say(text, { n: 5 }, 'cs'), '5 souborov');
  assert.equal(say(text, { n: 3 }, 'en'), '3 souborov');
  assert.equal(say(text, { n: 1 }, 'ja'), '1 souborov');
  const arabic = '{n, plural, zero {z} one {o} two {t} few {f} many {m} other {x}}';
  assert.deepEqual(
    [0, 1, 2, 5, 12, 100].map((n) => say(arabic, { n }, 'ar')).join(''),
    'zotfmx',
  );
  assert.equal(say('{n, plural, one {#er} other {#e}}', { n: 0 }, 'fr'), '0er');
});

test('one parsed message for several locales', () => {
  const nodes = parse('{n, plural, one {a} other {b}}');
  assert.equal(format(nodes, { n: 0 }, 'fr'), 'a');
  assert.equal(format(nodes, { n: 0 }, 'en'), 'b');
  assert.equal(format(nodes, { n: 1 }, 'en'), 'a');
});

test('a category without a case', () => {
  assert.equal(say('{n, plural, other {# x}}', { n: 1 }), '1 x');
  assert.equal(say('{n, plural, =5 {five} other {# x}}', { n: 1 }), '1 x');
});

test('select', () => {
  const text = '{role, select, admin {All projects} other {Projects of {name}}}';
  assert.equal(say(text, { role: 'admin' }), 'All projects');
  assert.equal(say(text, { role: 'guest', name: 'Ann' }), 'Projects of Ann');
  assert.equal(say(text, { role: 'other', name: 'Bob' }), 'Projects of Bob');
  assert.equal(say('{x, select, true {yes} 7 {seven} null {nil} other {no}}', { x: true }), 'yes');
  assert.equal(say('{x, select, true {yes} 7 {seven} null {nil} other {no}}', { x: 7 }), 'seven');
  assert.equal(say('{x, select, true {yes} 7 {seven} null {nil} other {no}}', { x: null }), 'nil');
  // A select does not know categories.
  assert.equal(say('{x, select, one {o} other {x}}', { x: 1 }), 'x');
});

test('only cases that are written count', () => {
  for (const x of ['constructor', '__proto__', 'toString', 'hasOwnProperty', '']) {
    assert.equal(say('{x, select, a {A} other {O}}', { x }), 'O');
  }
  assert.equal(say('{x, select, __proto__ {P} other {O}}', { x: '__proto__' }), 'P');
  assert.equal(say('{x, select, constructor {C} other {O}}', { x: 'constructor' }), 'C');
  assert.throws(() => say('{toString}'), MessageError);
  assert.throws(() => say('{toString, select, other {O}}'), MessageError);
});

test('nesting', () => {
  const text =
    '{who, select, me {You have {n, plural, one {# {kind}} other {# {kind}s}}} ' +
    'other {{who} has {n, plural, =0 {nothing} other {# {kind}s}}}}!';
  assert.equal(say(text, { who: 'me', n: 1, kind: 'cat' }), 'You have 1 cat!');
  assert.equal(say(text, { who: 'Ann', n: 0 }), 'Ann has nothing!');
  assert.equal(say(text, { who: 'Ann', n: 4, kind: 'cat' }), 'Ann has 4 cats!');
});

test('# is the number of the innermost plural', () => {
  const text =
    '{a, plural, other {# [{b, plural, other {# ({s, select, other {#}})}}] # {s, select, x {#!} other {#?}}}} #';
  assert.equal(say(text, { a: 1, b: 2, s: 'x' }), '1 [2 (2)] 1 1! #');
});

test('# outside of plurals is text', () => {
  assert.equal(say('#{a}', { a: 4 }), '#4');
  assert.equal(say('{s, select, x {# 1} other {#}} #', { s: 'x' }), '# 1 #');
  assert.equal(
    say('{s, select, x {#{n, plural, other {#}}#} other {}}', { s: 'x', n: 3 }),
    '#3#',
  );
  assert.equal(say('{n, plural, other {{a}}}', { n: 3, a: '#' }), '#');
});

test('white space', () => {
  assert.equal(say('{n,plural,one{a}other{b}}', { n: 1 }), 'a');
  assert.equal(say('{n,select,one{a}other{b}}', { n: 1 }), 'b');
  assert.equal(say('{\n\tn\n,\tplural\n,\n=1\n{ a }\n\tother\n{\nb\n}\n}', { n: 1 }), ' a ');
  assert.equal(say('{\n\tn\n,\tplural\n,\n=1\n{ a }\n\tother\n{\nb\n}\n}', { n: 2 }), '\nb\n');
  assert.equal(say('{n,plural,=1{a}=2{b}other{}}', { n: 2 }), 'b');
});

test('empty cases', () => {
  assert.equal(say('{n, plural, =0 {} other {x}}', { n: 0 }), '');
  assert.equal(say('{s, select, a {} other {x}}', { s: 'a' }), '');
});

test('quotes', () => {
  assert.equal(say("It's '{'quoted'}', isn''t it?"), "It's {quoted}, isn't it?");
  assert.equal(say("'{a''b}' '"), "{a'b} '");
  assert.equal(say("'{to the end"), '{to the end');
  assert.equal(say("{n, plural, other {it''s '{'#'}' o'clock}}", { n: 2 }), "it's {2} o'clock");
  assert.equal(say("{n, plural, other {'#'# '# #' #}}", { n: 2 }), '#2 # # 2');
  assert.equal(say("{n, plural, other {'#}{''' #}}", { n: 2 }), "#}{' 2");
  assert.equal(say("{n, plural, other {{s, select, other {'#' #}}}}", { n: 2, s: '' }), '# 2');
});

test('quotes before # outside of plurals', () => {
  assert.equal(say("'#' {a}", { a: 1 }), "'#' 1");
  assert.equal(say("{s, select, other {'#{a}' }}", { s: '', a: 1 }), "'#1' ");
  assert.equal(say("{n, plural, other {x}} '#{n}", { n: 5 }), "x '#5");
  assert.equal(
    say("{s, select, other {{n, plural, other {'#'}}'#{n}.}}", { s: '', n: 5 }),
    "#'#5.",
  );
});

test('values that do not fit', () => {
  for (const n of ['1', null, undefined, NaN, Infinity, -Infinity, 1n, {}, [], true, Symbol('x')]) {
    assert.throws(() => say('{n, plural, =1 {a} other {b}}', { n }), MessageError);
  }
  assert.throws(() => say(FILES), MessageError);
  assert.throws(() => say('{s, select, other {}}'), MessageError);
  assert.throws(() => say('{n, plural, other {{missing}}}', { n: 1 }), MessageError);
});

test('only what is needed has to be there', () => {
  assert.equal(say('{n, plural, =0 {none} other {{missing}}}', { n: 0 }), 'none');
});

test('broken messages', () => {
  for (const text of [
    '{', '}', '{a', '{}', '{a b}', '{a,}', '{a, plural}', '{a, plural,}', '{a, select, }',
    '{a, plural, one {x}}', '{a, select, x {y}}', '{a, plural, =1 {x}}',
    '{a, plural, other {x} other {y}}', '{a, plural, =1 {x} =01 {y} other {z}}',
    '{a, select, x {1} x {2} other {3}}', '{a, number, other {x}}', '{a, Plural, other {x}}',
    '{a, plural, lots {x} other {y}}', '{a, plural, =x {x} other {y}}',
    '{a, plural, =-1 {x} other {y}}', '{a, plural, =1.5 {x} other {y}}',
    '{a, plural, = 1 {x} other {y}}', '{a, plural, 1 {x} other {y}}',
    '{a, select, =1 {x} other {y}}', '{a plural, other {x}}', '{a, plural other {x}}',
    '{a, plural, other x}', '{a, plural, other}', '{a, plural, other {x}', '{a, plural, other {x',
    '{a, plural, other {x}}}', '{a, plural, {x} other {y}}', '{a, plural, other {x} y}',
    '{a, plural, other {x}, one {y}}', "{a, plural, other {'#}}", "{a, plural, other {'}'}",
    '{a, plural, constructor {x} other {y}}', '{a, select, other {{b}}',
    '{a, , other {x}}', '{, plural, other {x}}', '{a, plural, other {{}}}',
  ]) {
    assert.throws(() => parse(text), MessageError, text);
  }
});

test('plain messages as before', () => {
  assert.equal(say(''), '');
  assert.equal(say('{a} and { b }!', { a: 1, b: 'two' }), '1 and two!');
  assert.equal(say('{a}{a}', { a: null }), 'nullnull');
});
