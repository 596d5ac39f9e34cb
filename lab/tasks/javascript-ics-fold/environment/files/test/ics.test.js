import assert from 'node:assert/strict';
import test from 'node:test';

import { readEvents, writeEvents } from '../src/calendar.js';

test('a round trip', () => {
  const events = [
    { uid: '1', title: 'Lunch; with Ann, Bob', notes: 'Bring\nC:\\notes' },
    { uid: '2', title: 'x'.repeat(200), place: 'Room 4' },
  ];
  assert.deepEqual(readEvents(writeEvents(events)), events);
});

test('long lines are folded', () => {
  const text = writeEvents([{ uid: '1', title: 'x'.repeat(150) }]);
  assert.ok(text.includes(`SUMMARY:${'x'.repeat(67)}\r\n ${'x'.repeat(74)}\r\n xxxxxxxxx\r\n`));
});
