import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import test from 'node:test';

const { KeyedQueue } = await import('/app/src/queue.js');

// Lets all promises that can settle do so.
const settle = () => new Promise((resolve) => setImmediate(resolve));

// A queue whose jobs are ended by hand, and that notes which have started.
class Bench {
  constructor(limit) {
    this.queue = new KeyedQueue(limit);
    this.started = [];
    this.ends = new Map();
    this.results = new Map();
  }

  task(name) {
    return () => {
      this.started.push(name);
      return new Promise((resolve, reject) => this.ends.set(name, { resolve, reject }));
    };
  }

  note(name, promise) {
    promise.then(
      (value) => this.results.set(name, `ok ${value}`),
      (error) => this.results.set(name, `failed ${error?.message ?? error}`),
    );
  }

  // Names begin with their key: a1, a2, b1.
  add(...names) {
    for (const name of names) this.note(name, this.queue.run(name[0], this.task(name)));
  }

  addWith(signal, ...names) {
    for (const name of names) {
      this.note(name, this.queue.run(name[0], this.task(name), { signal }));
    }
  }

  exclusive(name, options) {
    this.note(name, this.queue.runExclusive(this.task(name), options));
  }

  async end(...names) {
    for (const name of names) {
      assert.ok(this.ends.has(name), `${name} has not started`);
      this.ends.get(name).resolve(name);
      await settle();
    }
  }

  async fail(name) {
    this.ends.get(name).reject(new Error(name));
    await settle();
  }

  // What has started since the last call.
  takeStarted() {
    return this.started.splice(0).join(' ');
  }

  get counts() {
    return [this.queue.running, this.queue.waiting];
  }
}

test('a busy key does not hold up others', async () => {
  const bench = new Bench(2);
  bench.add('a1', 'a2', 'a3', 'b1', 'c1');
  assert.equal(bench.takeStarted(), 'a1 b1');
  assert.deepEqual(bench.counts, [2, 3]);
  await bench.end('b1');
  assert.equal(bench.takeStarted(), 'c1');
  await bench.end('a1');
  assert.equal(bench.takeStarted(), 'a2');
  await bench.end('c1');
  assert.equal(bench.takeStarted(), '');
  await bench.end('a2');
  assert.equal(bench.takeStarted(), 'a3');
  await bench.end('a3');
  assert.deepEqual(bench.counts, [0, 0]);
});

test('the one that has waited longest comes first', async () => {
  const bench = new Bench(2);
  bench.add('a1', 'b1', 'b2', 'a2', 'c1', 'd1');
  assert.equal(bench.takeStarted(), 'a1 b1');
  await bench.end('a1');
  assert.equal(bench.takeStarted(), 'a2');
  await bench.end('b1');
  assert.equal(bench.takeStarted(), 'b2');
  await bench.end('a2', 'b2');
  assert.equal(bench.takeStarted(), 'c1 d1');
});

test('all free places are used', async () => {
  const bench = new Bench(4);
  bench.exclusive('X');
  bench.add('a1', 'a2', 'b1', 'c1', 'b2', 'd1', 'e1');
  assert.equal(bench.takeStarted(), 'X');
  await bench.end('X');
  assert.equal(bench.takeStarted(), 'a1 b1 c1 d1');
});

test('jobs start before run returns', () => {
  const bench = new Bench(1);
  let started = false;
  bench.queue.run('a', () => {
    started = true;
  });
  assert.ok(started);
  const other = new KeyedQueue(1);
  started = false;
  other.runExclusive(() => {
    started = true;
  });
  assert.ok(started);
});

test('keys are compared as in a set', async () => {
  const bench = new Bench(9);
  const object = {};
  const keys = [NaN, NaN, undefined, undefined, null, object, object, {}, 0, -0, '0', 'exclusive'];
  keys.forEach((key, index) => bench.queue.run(key, bench.task(index)));
  assert.equal(bench.takeStarted(), '0 2 4 5 7 8 10 11');
});

test('failures do not stop the queue', async () => {
  const bench = new Bench(1);
  bench.add('a1', 'a2');
  bench.note('throws', bench.queue.run('a', () => {
    throw new Error('thrown');
  }));
  bench.exclusive('X');
  bench.exclusive('Y');
  bench.add('a3');
  await bench.fail('a1');
  await bench.end('a2');
  await bench.fail('X');
  await bench.end('Y', 'a3');
  assert.deepEqual(Object.fromEntries(bench.results), {
    a1: 'failed a1', a2: 'ok a2', throws: 'failed thrown', X: 'failed X', Y: 'ok Y', a3: 'ok a3',
  });
  assert.deepEqual(bench.counts, [0, 0]);
});

test('exclusive jobs run alone', async () => {
  const bench = new Bench(3);
  bench.add('a1', 'b1');
  bench.exclusive('X');
  bench.add('c1', 'd1');
  assert.equal(bench.takeStarted(), 'a1 b1');
  assert.deepEqual(bench.counts, [2, 3]);
  await bench.end('a1');
  assert.equal(bench.takeStarted(), '');
  await bench.end('b1');
  assert.equal(bench.takeStarted(), 'X');
  assert.deepEqual(bench.counts, [1, 2]);
  bench.add('e1');
  assert.equal(bench.takeStarted(), '');
  await bench.end('X');
  assert.equal(bench.takeStarted(), 'c1 d1 e1');
});

test('exclusive jobs wait for jobs that wait before them', async () => {
  const bench = new Bench(2);
  bench.add('a1', 'a2');
  bench.exclusive('X');
  bench.add('b1', 'a3');
  assert.equal(bench.takeStarted(), 'a1');
  await bench.end('a1');
  assert.equal(bench.takeStarted(), 'a2');
  await bench.end('a2');
  assert.equal(bench.takeStarted(), 'X');
  await bench.end('X');
  assert.equal(bench.takeStarted(), 'b1 a3');
});

test('several exclusive jobs', async () => {
  const bench = new Bench(5);
  bench.exclusive('X');
  bench.exclusive('Y');
  bench.add('a1', 'b1');
  bench.exclusive('Z');
  bench.add('c1');
  for (const [started, ended] of [['X', ['X']], ['Y', ['Y']], ['a1 b1', ['b1', 'a1']], ['Z', ['Z']], ['c1', ['c1']]]) {
    assert.equal(bench.takeStarted(), started);
    await bench.end(...ended);
  }
  assert.equal(await bench.queue.runExclusive(() => 5), 5);
});

test('a waiting job is cancelled', async () => {
  const bench = new Bench(1);
  const controller = new AbortController();
  bench.add('a1');
  bench.addWith(controller.signal, 'b1');
  bench.add('c1');
  assert.equal(getEventListeners(controller.signal, 'abort').length, 1);
  controller.abort(new Error('enough'));
  assert.deepEqual(bench.counts, [1, 1]);
  assert.equal(getEventListeners(controller.signal, 'abort').length, 0);
  await settle();
  assert.equal(bench.results.get('b1'), 'failed enough');
  await bench.end('a1', 'c1');
  assert.equal(bench.takeStarted(), 'a1 c1');
  assert.equal(bench.results.get('c1'), 'ok c1');
});

test('the reason is passed on as it is', async () => {
  const queue = new KeyedQueue(1);
  queue.run('a', () => new Promise(() => {}));
  for (const reason of ['text', 0, null, new TypeError('x')]) {
    const controller = new AbortController();
    const waiting = queue.run('b', () => {}, { signal: controller.signal });
    controller.abort(reason);
    const early = queue.runExclusive(() => {}, { signal: controller.signal });
    for (const promise of [waiting, early]) {
      const [result] = await Promise.allSettled([promise]);
      assert.equal(result.status, 'rejected');
      assert.equal(result.reason, reason);
    }
  }
  const controller = new AbortController();
  const job = queue.run('b', () => {}, { signal: controller.signal });
  controller.abort();
  await assert.rejects(job, { name: 'AbortError' });
});

test('a running job goes on', async () => {
  const bench = new Bench(2);
  const controller = new AbortController();
  const { signal } = controller;
  bench.addWith(signal, 'a1', 'b1', 'a2');
  assert.equal(getEventListeners(signal, 'abort').length, 1);
  await bench.end('a1');
  assert.equal(getEventListeners(signal, 'abort').length, 0);
  controller.abort();
  await settle();
  assert.deepEqual(bench.counts, [2, 0]);
  await bench.end('a2');
  await bench.fail('b1');
  assert.equal(bench.results.get('a2'), 'ok a2');
  assert.equal(bench.results.get('b1'), 'failed b1');
});

test('an aborted signal from the start', async () => {
  const bench = new Bench(2);
  const signal = AbortSignal.abort(new Error('late'));
  bench.addWith(signal, 'a1');
  bench.exclusive('X', { signal });
  assert.deepEqual(bench.counts, [0, 0]);
  await settle();
  assert.equal(bench.results.get('a1'), 'failed late');
  assert.equal(bench.results.get('X'), 'failed late');
  assert.equal(bench.takeStarted(), '');
  assert.equal(getEventListeners(signal, 'abort').length, 0);
});

test('a cancelled exclusive job holds up nothing', async () => {
  const bench = new Bench(2);
  const controller = new AbortController();
  bench.add('a1');
  bench.exclusive('X', { signal: controller.signal });
  bench.add('b1', 'c1');
  assert.equal(bench.takeStarted(), 'a1');
  controller.abort();
  assert.equal(bench.takeStarted(), 'b1');
  await bench.end('a1');
  assert.equal(bench.takeStarted(), 'c1');
  assert.match(bench.results.get('X'), /^failed/);
});

test('one signal for several jobs', async () => {
  const bench = new Bench(3);
  const controller = new AbortController();
  const { signal } = controller;
  bench.add('a1');
  bench.exclusive('X', { signal });
  bench.addWith(signal, 'b1', 'c1');
  bench.exclusive('Y', { signal });
  bench.addWith(signal, 'd1');
  bench.add('e1');
  controller.abort(new Error('all'));
  await settle();
  assert.equal(bench.takeStarted(), 'a1 e1');
  for (const name of ['X', 'b1', 'c1', 'Y', 'd1']) {
    assert.equal(bench.results.get(name), 'failed all');
  }
  assert.deepEqual(bench.counts, [2, 0]);
  assert.equal(getEventListeners(signal, 'abort').length, 0);
});

test('the task that is started by a cancellation sees the queue in order', async () => {
  const bench = new Bench(2);
  const controller = new AbortController();
  bench.add('a1');
  bench.exclusive('X', { signal: controller.signal });
  let seen;
  bench.queue.run('b', () => {
    seen = bench.counts;
    bench.add('c1');
  });
  controller.abort();
  assert.deepEqual(seen, [2, 0]);
  await settle();
  assert.equal(bench.takeStarted(), 'a1 c1');
});

test('a task that aborts others while it starts', async () => {
  const bench = new Bench(1);
  const controller = new AbortController();
  const { signal } = controller;
  bench.add('a1');
  bench.queue.run('b', () => controller.abort());
  bench.addWith(signal, 'c1', 'd1');
  bench.exclusive('X', { signal });
  bench.add('e1');
  await bench.end('a1');
  assert.equal(bench.takeStarted(), 'a1 e1');
  assert.deepEqual(bench.counts, [1, 0]);
});

test('a task that aborts its own signal goes on', async () => {
  const queue = new KeyedQueue(1);
  const controller = new AbortController();
  const result = await queue.run(
    'a',
    () => {
      controller.abort();
      return 3;
    },
    { signal: controller.signal },
  );
  assert.equal(result, 3);
});

test('tasks that add jobs keep to the limit and the order', async () => {
  const bench = new Bench(2);
  bench.add('a1', 'b1', 'c1');
  bench.queue.run('d', () => {
    bench.started.push('d');
    bench.add('e1', 'f1');
    assert.ok(bench.queue.running <= 2);
  });
  bench.add('g1');
  await bench.end('a1', 'b1');
  // While d starts, c1 and d take both places; e1 and f1 are behind g1.
  assert.equal(bench.takeStarted(), 'a1 b1 c1 d g1');
  await bench.end('c1', 'g1');
  assert.equal(bench.takeStarted(), 'e1 f1');
});

test('an exclusive task that adds jobs', async () => {
  const bench = new Bench(3);
  bench.queue.runExclusive(() => {
    bench.started.push('X');
    bench.add('a1');
    bench.exclusive('Y');
    bench.add('b1');
    assert.deepEqual(bench.counts, [1, 3]);
  });
  assert.equal(bench.takeStarted(), 'X');
  await settle();
  assert.equal(bench.takeStarted(), 'a1');
  await bench.end('a1', 'Y');
  assert.equal(bench.takeStarted(), 'Y b1');
});

test('idle', async () => {
  const bench = new Bench(2);
  assert.equal(await bench.queue.idle(), undefined);
  bench.add('a1', 'a2', 'b1');
  let idle = 0;
  bench.queue.idle().then(() => (idle += 1));
  bench.queue.idle().then(() => (idle += 1));
  await bench.end('a1', 'b1');
  assert.equal(idle, 0);
  await bench.fail('a2');
  assert.equal(idle, 2);
  bench.exclusive('X');
  bench.queue.idle().then(() => (idle += 1));
  await settle();
  assert.equal(idle, 2);
  await bench.end('X');
  assert.equal(idle, 3);
  assert.equal(await bench.queue.idle(), undefined);
});

test('idle after the promises of the jobs', async () => {
  const queue = new KeyedQueue(1);
  const log = [];
  queue.run('a', async () => {}).then(() => log.push('a'));
  queue.run('a', () => Promise.reject(new Error('no'))).catch(() => log.push('b'));
  const controller = new AbortController();
  queue.run('a', () => {}, { signal: controller.signal }).catch(() => log.push('c'));
  const idle = queue.idle().then(() => log.push('idle'));
  controller.abort();
  await idle;
  assert.deepEqual(log, ['c', 'a', 'b', 'idle']);
});

test('idle when the last job is cancelled', async () => {
  const bench = new Bench(1);
  const controller = new AbortController();
  bench.add('a1');
  bench.addWith(controller.signal, 'a2');
  let idle = false;
  bench.queue.idle().then(() => (idle = true));
  await settle();
  controller.abort();
  await settle();
  assert.equal(idle, false);
  await bench.end('a1');
  assert.equal(idle, true);
});

test('idle waits for jobs that are added meanwhile', async () => {
  const bench = new Bench(1);
  bench.add('a1');
  let idle = false;
  bench.queue.idle().then(() => (idle = true));
  bench.add('b1');
  await bench.end('a1');
  assert.equal(idle, false);
  await bench.end('b1');
  assert.equal(idle, true);
});

test('limits', () => {
  for (const limit of [0, -1, 1.5, NaN, '2', undefined]) {
    assert.throws(() => new KeyedQueue(limit), RangeError);
  }
});

test('many random jobs keep all rules', async () => {
  let state = 99;
  const random = (below) => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return Math.floor(state / 65536) % below;
  };
  for (let round = 0; round < 30; round += 1) {
    const limit = 1 + random(4);
    const queue = new KeyedQueue(limit);
    const running = new Set();
    const done = [];
    const order = [];
    let added = 0;
    let next = 0;
    for (let n = 0; n < 40; n += 1) {
      const key = random(6) === 0 ? null : random(5);
      const job = { key, index: added };
      added += 1;
      const task = async () => {
        assert.ok(running.size < limit);
        for (const other of running) {
          assert.ok(key !== null && other.key !== null && other.key !== key);
        }
        // Nothing passes an exclusive job, and none with the same key.
        for (const earlier of order) {
          if (earlier.index < job.index && (earlier.key === key || earlier.key === null || key === null)) {
            assert.ok(done.includes(earlier));
          }
        }
        running.add(job);
        for (let turns = random(5); turns > 0; turns -= 1) await null;
        running.delete(job);
        done.push(job);
        next += 1;
      };
      order.push(job);
      (key === null ? queue.runExclusive(task) : queue.run(key, task)).catch((error) => {
        next = error;
      });
    }
    await queue.idle();
    assert.equal(next, 40);
    assert.deepEqual([queue.running, queue.waiting], [0, 0]);
  }
});
