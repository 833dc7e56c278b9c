import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createQuota, memoryStore } from '../src/index.ts'
import { sha256 } from '../src/store/subjects.ts'
import type { AsyncStore } from '../src/store.ts'
import { asyncStore, flatLimits, type Gateway, gatewayPolicy, type Operation, testClock } from './support.ts'

const policy = gatewayPolicy(flatLimits(30, 1e6))
const operation = 'write'

/** A store that notes the subjects it is asked about. */
function noting() {
  const clock = testClock()
  const keys = new Set<unknown>()
  const inner = asyncStore(memoryStore({ clock }))
  const store: AsyncStore = {
    ...inner,
    open(schema) {
      const counters = inner.open(schema)
      return {
        ...counters,
        take(request) {
          keys.add(request.subject)
          return counters.take(request)
        },
      }
    },
  }
  return { quota: createQuota<Operation, Gateway>({ policy, clock, store }), keys }
}

const hashed = (text: string): string => `sha256:${createHash('sha256').update(text).digest('hex')}`

it.each([
  ['201 bytes', 'x'.repeat(201)],
  ['characters of three bytes', '数'.repeat(70)],
  ['16 kB', 'long'.repeat(4_096)],
  ['a text that looks like a hash', hashed('x'.repeat(201))],
])('a subject of %s counts by its marked SHA-256, in every call', async (_, subject) => {
  const { quota, keys } = noting()
  await quota.consume({ subject, operation, cost: 20 })
  expect([...keys]).toEqual([hashed(subject)])
  expect((await quota.consume({ subject, operation, cost: 20 })).allowed).toBe(false)
  expect((await quota.status(subject)).limits['personal-write-1h']?.used).toBe(20)
  await quota.subjects.set(subject, { limits: { 'personal-write-1h': 25 } })
  expect(await quota.subjects.get(subject)).toMatchObject({ limits: { 'personal-write-1h': 25 } })
  expect((await quota.peek({ subject, operation, cost: 6 })).allowed).toBe(false)
  const held = await quota.reserve({ subject, operation, cost: 5, ttlMs: 60_000 })
  const [hold] = await quota.holds.list(subject)
  if (held.status !== 'reserved' || held.token === undefined || hold === undefined) throw new Error(held.status)
  await (await quota.resume(held.token)).commit(3)
  expect((await quota.status(subject)).limits['personal-write-1h']?.used).toBe(23)
  await quota.reset(subject)
  expect((await quota.status(subject)).limits['personal-write-1h']?.used).toBe(0)
})

it('a subject of 200 bytes counts as it is', async () => {
  const { quota, keys } = noting()
  await quota.consume({ subject: 'x'.repeat(200), operation })
  expect([...keys]).toEqual(['x'.repeat(200)])
})

it('texts that differ, or look like the hash of another one, never share a counter', async () => {
  const { quota } = noting()
  const long = 'y'.repeat(300)
  for (const subject of [long, `${long}y`, hashed(long), hashed(hashed(long))]) {
    expect((await quota.consume({ subject, operation, cost: 30 })).allowed).toBe(true)
  }
})

it('our SHA-256 equals Node’s, for bytes of any length', () => {
  const agrees = (bytes: Uint8Array): void => {
    expect(sha256(bytes)).toBe(createHash('sha256').update(bytes).digest('hex'))
  }
  // Around the ends of blocks, where the padding changes.
  for (let length = 0; length < 200; length++) agrees(new Uint8Array(length).fill(length))
  fc.assert(fc.property(fc.uint8Array({ maxLength: 2_000 }), agrees), { numRuns: 200 })
})
