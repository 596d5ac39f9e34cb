// The key of the jobs that run alone.
const EXCLUSIVE = Symbol('exclusive');

// Runs at most `limit` jobs at once, and jobs with the same key one by one.
export class KeyedQueue {
  #limit;
  #waiting = [];
  #running = 0;
  // The keys of the jobs that are running.
  #busy = new Set();
  // What resolves the promises of `idle`.
  #idle = [];

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

  // Adds a job. The promise is settled like the one that `task` returns. Until
  // it has started, the job can be cancelled with the signal.
  run(key, task, { signal } = {}) {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(signal.reason);
        return;
      }
      const job = { key, task, signal, resolve, reject };
      job.cancel = () => this.#cancel(job);
      signal?.addEventListener('abort', job.cancel, { once: true });
      this.#waiting.push(job);
      this.#startWaiting();
    });
  }

  // Adds a job that runs after all those before it and before all those after it.
  runExclusive(task, options) {
    return this.run(EXCLUSIVE, task, options);
  }

  // A promise that is fulfilled as soon as there are no jobs.
  idle() {
    return new Promise((resolve) => {
      this.#idle.push(resolve);
      this.#startWaiting();
    });
  }

  #cancel(job) {
    this.#waiting.splice(this.#waiting.indexOf(job), 1);
    job.reject(job.signal.reason);
    this.#startWaiting();
  }

  #startWaiting() {
    // Each task may change the queue, so look at it anew for each.
    for (let job = this.#takeNext(); job; job = this.#takeNext()) this.#start(job);
    if (this.#running === 0 && this.#waiting.length === 0) {
      for (const resolve of this.#idle.splice(0)) resolve();
    }
  }

  // Takes the first job that may start now out of those that are waiting.
  #takeNext() {
    if (this.#running === this.#limit || this.#busy.has(EXCLUSIVE)) return undefined;
    for (const [index, { key, signal }] of this.#waiting.entries()) {
      // Of the jobs that one signal cancels, some are still waiting for their turn
      // to be taken out.
      if (signal?.aborted) continue;
      if (key === EXCLUSIVE && this.#running > 0) return undefined;
      if (!this.#busy.has(key)) return this.#waiting.splice(index, 1)[0];
    }
    return undefined;
  }

  async #start({ key, task, signal, cancel, resolve, reject }) {
    signal?.removeEventListener('abort', cancel);
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
