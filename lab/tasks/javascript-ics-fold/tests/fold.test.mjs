import assert from 'node:assert/strict';
import test from 'node:test';

const { readEvents, writeEvents } = await import('/app/src/calendar.js');

const SHARP_S = '\u00df'; // 2 octets
const KANJI = '\u6f22'; // 3 octets
const EMOJI = '\u{1f680}'; // 4 octets, 2 UTF-16 units

const octets = (text) => Buffer.byteLength(text);

function roundTrip(title) {
  const text = writeEvents([{ uid: '1', title }]);
  assert.deepEqual(readEvents(text), [{ uid: '1', title }]);
  return text;
}

// The lines of the file that the title takes, without their line ends.
function titleLines(title) {
  const lines = roundTrip(title).split('\r\n');
  const from = lines.findIndex((line) => line.startsWith('SUMMARY:'));
  const to = lines.indexOf('END:VEVENT');
  return lines.slice(from, to);
}

// What is right about any folded title.
function check(title) {
  const lines = titleLines(title);
  lines.forEach((line, index) => {
    assert.ok(octets(line) <= 75, `${octets(line)} octets`);
    assert.ok(line.isWellFormed?.() ?? !/\ufffd/.test(line), 'a broken character');
    assert.ok(index === 0 || line.startsWith(' '));
    if (index > 0) {
      const [first] = line.slice(1);
      const before = lines[index - 1];
      assert.ok(first !== undefined, 'an empty continuation line');
      const char = String.fromCodePoint(line.codePointAt(1));
      assert.ok(octets(before) + octets(char) > 75, 'broken too early');
    }
  });
}

test('the example', () => {
  const title = `Gro${SHARP_S}e `.repeat(12).trim();
  check(title);
  assert.ok(!roundTrip(title).includes('\ufffd'));
});

test('characters of all sizes at all places', () => {
  for (const char of [SHARP_S, KANJI, EMOJI]) {
    for (let before = 0; before < 160; before += 1) {
      check(`${'x'.repeat(before)}${char}${'y'.repeat(90)}`);
    }
  }
});

test('long runs', () => {
  for (const char of ['x', SHARP_S, KANJI, EMOJI]) {
    for (let count = 1; count < 120; count += 1) check(char.repeat(count));
  }
});

test('mixed text', () => {
  const chars = ['a', ' ', SHARP_S, KANJI, EMOJI, '\u0301', '\u200d', ',', '\\', '\n'];
  let state = 12345;
  for (let n = 0; n < 100; n += 1) {
    let title = '';
    for (let length = 0; length < 150; length += 1) {
      state = (state * 1103515245 + 12345) % 2147483648;
      title += chars[Math.floor(state / 65536) % chars.length];
    }
    check(title);
  }
});

test('the exact places', () => {
  assert.deepEqual(titleLines(`${'x'.repeat(66)}${SHARP_S}y`), [
    `SUMMARY:${'x'.repeat(66)}`,
    ` ${SHARP_S}y`,
  ]);
  assert.deepEqual(titleLines(`${'x'.repeat(65)}${SHARP_S}`), [
    `SUMMARY:${'x'.repeat(65)}${SHARP_S}`,
  ]);
  assert.deepEqual(titleLines(EMOJI.repeat(36)), [
    `SUMMARY:${EMOJI.repeat(16)}`,
    ` ${EMOJI.repeat(18)}`,
    ` ${EMOJI.repeat(2)}`,
  ]);
});

test('ASCII comes out as before', () => {
  assert.deepEqual(titleLines('x'.repeat(67)), [`SUMMARY:${'x'.repeat(67)}`]);
  assert.deepEqual(titleLines('x'.repeat(68)), [`SUMMARY:${'x'.repeat(67)}`, ' x']);
  assert.deepEqual(titleLines('x'.repeat(67 + 74)), [
    `SUMMARY:${'x'.repeat(67)}`,
    ` ${'x'.repeat(74)}`,
  ]);
  assert.deepEqual(titleLines('x'.repeat(67 + 75)), [
    `SUMMARY:${'x'.repeat(67)}`,
    ` ${'x'.repeat(74)}`,
    ' x',
  ]);
  // An escape may be broken: it consists of two characters.
  assert.deepEqual(titleLines(`${'x'.repeat(66)};y`), [
    `SUMMARY:${'x'.repeat(66)}\\`,
    ' ;y',
  ]);
});

test('a whole file', () => {
  assert.equal(
    writeEvents([{ uid: 'a', title: `Caf\u00e9, ${KANJI}`, place: '', notes: 'a\nb' }]),
    [
      'BEGIN:VCALENDAR', 'VERSION:2.0', 'PRODID:-//tiny-ics//EN', 'BEGIN:VEVENT',
      'UID:a', `SUMMARY:Caf\u00e9\\, ${KANJI}`, 'LOCATION:', 'DESCRIPTION:a\\nb',
      'END:VEVENT', 'END:VCALENDAR', '',
    ].join('\r\n'),
  );
});

test('blanks at a fold stay', () => {
  check(`${'x'.repeat(67)}   ${SHARP_S.repeat(50)}`);
  check(`${'x'.repeat(66)} ${' '.repeat(80)}y`);
});

test('line separators are ordinary characters', () => {
  check(`a\u2028b\u2029${'x'.repeat(57)}\u2028c`);
});

test('all properties', () => {
  const long = `${KANJI}${EMOJI}${SHARP_S}x, `.repeat(30);
  const events = [
    { uid: long, title: long, place: long, notes: `${long}\n${long}` },
    { uid: '2' },
  ];
  const text = writeEvents(events);
  assert.deepEqual(readEvents(text), events);
  for (const line of text.split('\r\n')) assert.ok(octets(line) <= 75);
});

test('files of other programs', () => {
  const read = (lines) =>
    readEvents(['BEGIN:VEVENT', ...lines, 'END:VEVENT', ''].join('\n'))[0];
  assert.deepEqual(read(['SUMM', ' ARY;LANGUAGE=de:Stra', `\t${SHARP_S}e`, '  1']), {
    title: `Stra${SHARP_S}e 1`,
  });
  assert.deepEqual(read(['SUMMARY:a', ' ', ' b\\', ' nc', `X-FOO:${EMOJI}`]), {
    title: 'ab\nc',
  });
});
