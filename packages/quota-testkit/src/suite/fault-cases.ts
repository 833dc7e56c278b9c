import assert from 'node:assert/strict'
import type { ConformanceCase, RowName } from './harness.ts'
import { DAY_MS, HOUR, HOUR_MS, type Limits, ROWS, SHARED, SITE, USER } from './limits.ts'
import { throwsCode } from './probe.ts'
import { casesOn, type Play, type Scene } from './scene.ts'
import { deadlineOf } from './without.ts'

const OWN: RowName = { layer: 'user', key: 'u' }
const ALL: RowName = { layer: 'site', key: '' }
const READS = { layers: ['user', 'site'] } as const
const WRITES = { layers: ['user/writes', 'site'] } as const

/** Ways to make the stored bytes of a row unreadable. */
const DAMAGES: Readonly<Record<string, (bytes: Uint8Array) => Uint8Array>> = {
  'nothing is left': () => new Uint8Array(),
  'one byte is left': (bytes) => bytes.slice(0, 1),
  'the last byte is gone': (bytes) => bytes.slice(0, -1),
  'a byte was added': (bytes) => Uint8Array.from([...bytes, 0]),
  'it is other text': () => new TextEncoder().encode('{"used":0}'),
  'it is all ones': (bytes) => bytes.map(() => 0xff),
}

async function cannotBeRead({ take, read }: Scene, layers: readonly string[]): Promise<void> {
  await throwsCode(() => take(1, { layers }), 'damaged_row')
  await throwsCode(() => read({ layers }), 'damaged_row')
}

/** A damaged row fails only the requests that need it, until it is reset. */
function isRepaired(change: (bytes: Uint8Array) => Uint8Array): Play {
  return async (scene) => {
    const { admit, reset, cancel, isUsed, damage } = scene
    const early = await admit(4, READS)
    await admit(1, { ...READS, subject: 'v' })
    await admit(1, WRITES)
    await damage(OWN, change)
    await cannotBeRead(scene, READS.layers)
    await cannotBeRead(scene, ['user'])
    await isUsed(6, { layers: ['site'] }, 'the shared row is as it was')
    await admit(1, { ...READS, subject: 'v' })
    await admit(1, WRITES)
    await reset({ layers: ['user'] })
    await isUsed({ own: 0, writes: 2, all: 8 })
    const { shown, states } = await admit(4, READS)
    assert.deepEqual([shown.own, states.length], [[early.now + 1, 4], 6], 'a start is never used twice')
    await cancel(early, 4, READS)
    await isUsed({ own: 4, writes: 2, all: 8 })
  }
}

const REPAIRS = Object.entries(DAMAGES).map(([what, change]) => {
  return [`a damaged row (${what}) fails only its subject, and a reset repairs it`, isRepaired(change)] as const
})

/** Cases about damaged rows. Only one subject fails, and a reset repairs it. */
const DAMAGE_CASES = casesOn(
  { limits: ROWS, room: 100, needs: ['damage'] },
  {
    ...Object.fromEntries(REPAIRS),
    async 'of concurrent requests, only that of the damaged row fails'({ admit, take, isUsed, store, peer, damage }) {
      for (const subject of ['u', 'v', 'w']) await admit(1, { subject })
      await damage(OWN, (bytes) => bytes.slice(0, -1))
      const outcomes = await Promise.all(
        ['v', 'u', 'w', 'u', 'v', 'w'].map((subject, index) =>
          take(1, { subject, store: index % 2 === 0 ? store : peer }).then(
            ({ outcome }) => outcome,
            (error: { code?: unknown }) => error.code,
          ),
        ),
      )
      assert.deepEqual(outcomes, ['admitted', 'damaged_row', 'admitted', 'damaged_row', 'admitted', 'admitted'])
      await isUsed(7, { layers: ['site'] })
    },
    async 'a damaged shared row fails the requests of its layer and charges none of their rows'(scene) {
      const { admit, reset, isUsed, damage } = scene
      await admit(2)
      await damage(ALL, (bytes) => bytes.slice(0, -1))
      await cannotBeRead(scene, READS.layers)
      await isUsed(2, { layers: ['user', 'user/writes'] })
      await admit(1, { layers: ['user'] })
      await reset({ layers: ['site'] })
      await admit(1)
      await isUsed({ own: 4, writes: 3, all: 1 })
    },
  },
)

/** The shared layer first: that catches a store that charges too early. */
const SHARED_FIRST: Limits = { limits: { all: [SITE, HOUR], own: [USER, HOUR] } }

/** Fills a store with room for three subjects. */
async function filled({ admit }: Scene): Promise<void> {
  for (const subject of ['a', 'b', 'c']) await admit(1, { subject })
}

/** Cases for a store with room for three subjects. */
const BOUND_CASES = casesOn(
  { limits: SHARED_FIRST, room: 100, needs: ['bounded'], wishes: { maxSubjects: 3 } },
  {
    async 'a new subject in a full store gets store_full and is charged nothing'(scene) {
      const { take, refuse, isUsed } = scene
      await filled(scene)
      for (let again = 0; again < 5; again++) await throwsCode(() => take(1, { subject: `new-${again}` }), 'store_full')
      await isUsed({ all: 3, own: 0 }, { subject: 'new-0' })
      await refuse(101, { subject: 'new' })
    },
    async 'a full store drops no live counter'(scene) {
      const { take, admit, refuse, isUsed, advance } = scene
      await filled(scene)
      for (let step = 0; step < 60; step++) {
        await advance(59_000)
        await throwsCode(() => take(1, { subject: `new-${step}` }), 'store_full')
      }
      for (const subject of ['a', 'b', 'c']) {
        const own = { subject, layers: ['user'], limits: 2 } as const
        await isUsed({ all: 3, own: 1 }, { subject })
        await admit(1, own)
        await refuse(1, own)
      }
    },
    async 'expired subjects make room for new ones'(scene) {
      const { admit, take, advance } = scene
      await filled(scene)
      await advance(HOUR_MS + DAY_MS)
      for (const subject of ['d', 'e', 'f']) await admit(1, { subject })
      await throwsCode(() => take(1, { subject: 'g' }), 'store_full')
    },
  },
)

/** How late a call may be on a busy machine, in milliseconds. */
const SLACK_MS = 500

/** Asserts that a call is rejected in time. */
async function rejectedWithin(ms: number, call: () => Promise<unknown>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(resolve, ms, `not rejected within ${ms} ms`)
  })
  const answered = call().then(
    () => 'answered by a store that nothing answers',
    () => 'rejected',
  )
  const came = await Promise.race([answered, late]).finally(() => clearTimeout(timer))
  assert.equal(came, 'rejected')
}

/** Cases about time: a store must keep the deadline that it declares. */
const DEADLINE_CASES = casesOn(
  { limits: SHARED, needs: ['deadline'] },
  {
    async 'a store without a server rejects every call within its deadline'(scene) {
      const { admit, take, read, cancel, reset, store, silence } = scene
      const deadlineMs = deadlineOf(store)
      assert.ok(deadlineMs !== undefined && deadlineMs > 0 && Number.isFinite(deadlineMs), `deadlineMs ${deadlineMs}`)
      const reply = await admit(1)
      await silence()
      const calls = [() => take(1), () => take(1, { subject: 'other' }), read, () => cancel(reply, 1), reset]
      await Promise.all(calls.map((call) => rejectedWithin(deadlineMs + SLACK_MS, () => call())))
    },
  },
)

/** Cases about stores that are damaged, full, or cut off. */
export const FAULT_CASES: readonly ConformanceCase[] = [...DAMAGE_CASES, ...BOUND_CASES, ...DEADLINE_CASES]
