export { CronError, parse } from './parse.js';
export { next } from './next.js';
