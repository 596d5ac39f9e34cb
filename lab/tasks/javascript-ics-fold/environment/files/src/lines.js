// Content lines: folding, and the escapes in their values.

const LIMIT = 75;

// The line, folded if it has more octets than are allowed.
export function fold(line) {
  const octets = Buffer.from(line);
  const parts = [octets.toString('utf8', 0, LIMIT)];
  // The blank takes one octet of each further line.
  for (let at = LIMIT; at < octets.length; at += LIMIT - 1) {
    parts.push(octets.toString('utf8', at, at + LIMIT - 1));
  }
  return parts.join('\r\n ');
}

// The content lines of a file, with the folds undone.
export function unfold(text) {
  return text
    .replace(/\r?\n[ \t]/g, '')
    .split(/\r?\n/)
    .filter((line) => line !== '');
}

export function escapeText(text) {
  return text.replace(/[\\;,]/g, '\\$&').replace(/\r?\n/g, '\\n');
}

export function unescapeText(value) {
  return value.replace(/\\(.)/g, (_, char) => (/n/i.test(char) ? '\n' : char));
}
