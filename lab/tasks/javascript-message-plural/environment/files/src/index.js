export { format } from './format.js';
export { MessageError, parse } from './parse.js';
