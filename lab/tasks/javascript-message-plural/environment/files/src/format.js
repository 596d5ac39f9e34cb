// Messages with their values filled in.

import { MessageError } from './parse.js';

// The text of a parsed message. `values` has a property for each argument.
export function format(nodes, values, locale) {
  return nodes
    .map((node) => (typeof node === 'string' ? node : String(valueOf(node, values))))
    .join('');
}

function valueOf(node, values) {
  if (!Object.hasOwn(values, node.name)) {
    throw new MessageError(`no value for ${node.name}`);
  }
  return values[node.name];
}
