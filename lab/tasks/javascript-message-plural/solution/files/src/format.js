// Messages with their values filled in.

import { MessageError } from './parse.js';

// The text of a parsed message. `values` has a property for each argument.
export function format(nodes, values, locale) {
  return formatNodes(nodes, values, locale, null);
}

// `number` is the one of the plural around the nodes.
function formatNodes(nodes, values, locale, number) {
  const formatNode = (node) => {
    if (typeof node === 'string') return node;
    if (node.type === 'number') return String(number);
    const value = valueOf(node, values);
    if (node.type === 'plural') {
      return formatNodes(pluralCase(node, value, locale), values, locale, value);
    }
    if (node.type === 'select') {
      const nodes = node.cases.get(String(value)) ?? node.cases.get('other');
      return formatNodes(nodes, values, locale, number);
    }
    return String(value);
  };
  return nodes.map(formatNode).join('');
}

function pluralCase({ name, cases }, value, locale) {
  if (!Number.isFinite(value)) {
    throw new MessageError(`${name} is no number: ${String(value)}`);
  }
  const category = () => new Intl.PluralRules(locale).select(value);
  return cases.get(value) ?? cases.get(category()) ?? cases.get('other');
}

function valueOf(node, values) {
  if (!Object.hasOwn(values, node.name)) {
    throw new MessageError(`no value for ${node.name}`);
  }
  return values[node.name];
}
