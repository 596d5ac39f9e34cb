// Content lines: folding, and the escapes in their values.

const LIMIT = 75;

// The line, folded if it has more octets than are allowed.
export function fold(line) {
  let folded = '';
  let length = 0;
  // Going by code points keeps the characters whole.
  for (const char of line) {
    const octets = Buffer.byteLength(char);
    if (length + octets > LIMIT) {
      folded += '\r\n ';
      // The blank is one octet of the new line.
      length = 1;
    }
    folded += char;
    length += octets;
  }
  return folded;
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
