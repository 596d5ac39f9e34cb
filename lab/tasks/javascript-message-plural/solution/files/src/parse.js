// Messages to lists of nodes. A node is a string, an argument `{ name }`, or a
// choice `{ name, type, cases }` with a Map from the keys to lists of nodes. In a
// plural, the key `=N` is the number N, and `#` is the node `{ type: 'number' }`.

// A message that cannot be read, or values that do not fit it.
export class MessageError extends Error {
  name = 'MessageError';
}

const CATEGORIES = ['zero', 'one', 'two', 'few', 'many', 'other'];

export function parse(text) {
  const parser = new Parser(text);
  const nodes = parser.message(false);
  if (parser.at < text.length) parser.fail('a } without a {');
  return nodes;
}

class Parser {
  constructor(text) {
    this.text = text;
    this.at = 0;
  }

  // Reads to the end, or to the } that ends the case. It is a parameter and not a
  // state whether this is within a plural, as `#` is text only outside of all.
  message(inPlural) {
    const nodes = [];
    let literal = '';
    while (this.at < this.text.length && this.text[this.at] !== '}') {
      const char = this.text[this.at];
      if (char === '{' || (char === '#' && inPlural)) {
        if (literal) nodes.push(literal);
        literal = '';
        nodes.push(char === '{' ? this.argument(inPlural) : this.number());
      } else if (char === "'") {
        literal += this.apostrophe(inPlural);
      } else {
        literal += char;
        this.at += 1;
      }
    }
    if (literal) nodes.push(literal);
    return nodes;
  }

  // The text that an apostrophe stands for, with all that it quotes.
  apostrophe(inPlural) {
    this.at += 1;
    const next = this.text[this.at];
    if (next === "'") {
      this.at += 1;
      return "'";
    }
    const quotes = next === '{' || next === '}' || (next === '#' && inPlural);
    if (!quotes) return "'";

    const [quoted] = /^(?:[^']|'')*/.exec(this.text.slice(this.at));
    this.at += quoted.length + 1;
    return quoted.replaceAll("''", "'");
  }

  number() {
    this.expect('#');
    return { type: 'number' };
  }

  argument(inPlural) {
    this.expect('{');
    this.space();
    const name = this.word();
    this.space();
    if (this.text[this.at] !== ',') {
      this.expect('}');
      return { name };
    }

    this.expect(',');
    this.space();
    const type = this.word();
    if (type !== 'plural' && type !== 'select') this.fail(`unknown type ${type}`);
    this.space();
    this.expect(',');
    const cases = this.cases(type, inPlural || type === 'plural');
    this.expect('}');
    return { name, type, cases };
  }

  cases(type, inPlural) {
    const cases = new Map();
    this.space();
    while (this.at < this.text.length && this.text[this.at] !== '}') {
      const key = type === 'plural' ? this.pluralKey() : this.word();
      if (cases.has(key)) this.fail(`the case ${key} for the second time`);
      this.space();
      this.expect('{');
      cases.set(key, this.message(inPlural));
      this.expect('}');
      this.space();
    }
    if (!cases.has('other')) this.fail('no case other');
    return cases;
  }

  pluralKey() {
    const exact = this.match(/=\d+/y);
    if (exact) return Number(exact.slice(1));
    const word = this.word();
    if (!CATEGORIES.includes(word)) this.fail(`unknown case ${word} in a plural`);
    return word;
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
