// Messages to lists of nodes. A node is a string or an argument `{ name }`.

// A message that cannot be read, or values that do not fit it.
export class MessageError extends Error {
  name = 'MessageError';
}

export function parse(text) {
  return new Parser(text).message();
}

class Parser {
  constructor(text) {
    this.text = text;
    this.at = 0;
  }

  message() {
    const nodes = [];
    let literal = '';
    while (this.at < this.text.length) {
      const char = this.text[this.at];
      if (char === '{') {
        if (literal) nodes.push(literal);
        literal = '';
        nodes.push(this.argument());
      } else if (char === '}') {
        this.fail('a } without a {');
      } else if (char === "'") {
        literal += this.apostrophe();
      } else {
        literal += char;
        this.at += 1;
      }
    }
    if (literal) nodes.push(literal);
    return nodes;
  }

  // The text that an apostrophe stands for, with all that it quotes.
  apostrophe() {
    this.at += 1;
    const next = this.text[this.at];
    if (next === "'") {
      this.at += 1;
      return "'";
    }
    if (next !== '{' && next !== '}') return "'";

    const [quoted] = /^(?:[^']|'')*/.exec(this.text.slice(this.at));
    this.at += quoted.length + 1;
    return quoted.replaceAll("''", "'");
  }

  argument() {
    this.expect('{');
    this.space();
    const name = this.word();
    this.space();
    this.expect('}');
    return { name };
  }

  word() {
    return this.match(/\w+/y) ?? this.fail('expected a name');
  }

  space() {
    this.match(/\s+/y);
  }

  expect(char) {
    if (this.text[this.at] !== char) this.fail(`expected ${char}`);
    this.at += 1;
  }

  // What the sticky pattern matches here, or null.
  match(pattern) {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text);
    if (!found) return null;
    this.at = pattern.lastIndex;
    return found[0];
  }

  fail(problem) {
    throw new MessageError(`${problem} at ${this.at}: ${this.text}`);
  }
}
