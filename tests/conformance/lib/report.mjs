// Counts checks, and says a line for each that failed.

import { isDeepStrictEqual } from "node:util";

export class Report {
  passed = 0;
  failed = 0;

  /** One check: `problem` says what is wrong; without one it passed. */
  check(name, problem) {
    if (!problem) {
      this.passed += 1;
      return true;
    }
    this.failed += 1;
    console.log(`FAILED ${name}: ${problem}`);
    return false;
  }

  /** One check that two values are the same, whatever the order of their fields. */
  same(name, actual, expected) {
    const [is, should] = [actual, expected].map((value) => clip(JSON.stringify(value)));
    return this.check(name, isDeepStrictEqual(actual, expected) ? "" : `is ${is}, should be ${should}`);
  }
}

/** The beginning of a long text. */
export function clip(text, length = 300) {
  return text === undefined || text.length <= length ? text : `${text.slice(0, length)}…`;
}
