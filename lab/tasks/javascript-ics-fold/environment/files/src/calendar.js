import { escapeText, fold, unescapeText, unfold } from './lines.js';

// Which property of an event is which in the file.

const PROPERTIES = [
  ['uid', 'UID'],
  ['title', 'SUMMARY'],
  ['place', 'LOCATION'],
  ['notes', 'DESCRIPTION'],
];
const KEYS = new Map(PROPERTIES.map(([key, name]) => [name, key]));

export function writeEvents(events) {
  const lines = ['BEGIN:VCALENDAR', 'VERSION:2.0', 'PRODID:-//tiny-ics//EN'];
  for (const event of events) {
    lines.push('BEGIN:VEVENT');
    for (const [key, name] of PROPERTIES) {
      if (event[key] !== undefined) lines.push(`${name}:${escapeText(event[key])}`);
    }
    lines.push('END:VEVENT');
  }
  lines.push('END:VCALENDAR');
  return lines.map((line) => `${fold(line)}\r\n`).join('');
}

export function readEvents(text) {
  const events = [];
  let event = null;
  for (const line of unfold(text)) {
    // Parameters, as in SUMMARY;LANGUAGE=en:Lunch, are of no interest here.
    const match = /^([\w-]+)(?:;(?:"[^"]*"|[^":])*)?:(.*)$/s.exec(line);
    if (!match) throw new SyntaxError(`not a content line: ${line}`);
    const name = match[1].toUpperCase();
    const value = match[2];
    if (name === 'BEGIN' && value === 'VEVENT') {
      event = {};
    } else if (name === 'END' && value === 'VEVENT') {
      events.push(event);
      event = null;
    } else if (event && KEYS.has(name)) {
      event[KEYS.get(name)] = unescapeText(value);
    }
  }
  return events;
}
