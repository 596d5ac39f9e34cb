import assert from 'node:assert/strict';
import test from 'node:test';

import { KeyedQueue } from '../src/queue.js';

test('results and errors', async () => {
  const queue = new KeyedQueue(2);
  const failed = queue.run('a', () => {
    throw new Error('no');
  });
  assert.equal(await queue.run('b', async () => 7), 7);
  await assert.rejects(failed, /no/);
});

test('one by one for each key', async () => {
  const queue = new KeyedQueue(3);
  const log = [];
  const job = (name) => async () => {
    log.push(`${name} starts`);
    await null;
    log.push(`${name} ends`);
  };
  await Promise.all([queue.run('k', job('a')), queue.run('k', job('b'))]);
  assert.deepEqual(log, ['a starts', 'a ends', 'b starts', 'b ends']);
});

test('counts', async () => {
  const queue = new KeyedQueue(1);
  const jobs = [1, 2, 3].map((key) => queue.run(key, async () => key));
  assert.deepEqual([queue.running, queue.waiting], [1, 2]);
  assert.deepEqual(await Promise.all(jobs), [1, 2, 3]);
  assert.deepEqual([queue.running, queue.waiting], [0, 0]);
});
