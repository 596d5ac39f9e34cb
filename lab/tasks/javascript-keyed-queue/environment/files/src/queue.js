// Runs at most `limit` jobs at once, and jobs with the same key one by one.
export class KeyedQueue {
  #limit;
  #waiting = [];
  #running = 0;
  // The keys of the jobs that are running.
  #busy = new Set();

  constructor(limit) {
    if (!Number.isInteger(limit) || limit < 1) {
      throw new RangeError(`not a limit for a queue: ${limit}`);
    }
    this.#limit = limit;
  }

  get running() {
    return this.#running;
  }

  get waiting() {
    return this.#waiting.length;
  }

  // Adds a job. The promise is settled like the one that `task` returns.
  run(key, task) {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ key, task, resolve, reject });
      this.#startWaiting();
    });
  }

  #startWaiting() {
    while (this.#waiting.length > 0 && this.#running < this.#limit) {
      if (this.#busy.has(this.#waiting[0].key)) return;
      this.#start(this.#waiting.shift());
    }
  }

  async #start({ key, task, resolve, reject }) {
    // The task may add jobs, so it has to count before it is called.
    this.#running += 1;
    this.#busy.add(key);
    try {
      resolve(await task());
    } catch (error) {
      reject(error);
    } finally {
      this.#running -= 1;
      this.#busy.delete(key);
      this.#startWaiting();
    }
  }
}
