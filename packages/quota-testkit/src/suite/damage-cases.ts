import assert from 'node:assert/strict'
import type { CaseContext, RowName } from './harness.ts'
import type { ContextCase } from './old-case.ts'
import { Probe, SIX_WINDOWS, throwsCode } from './probe.ts'

const OWN: RowName = { layer: 'personal/read', key: 'u' }
const SHARED: RowName = { layer: 'site/read', key: '' }

/** Ways to make the stored bytes of a row unreadable. */
const DAMAGES: Readonly<Record<string, (bytes: Uint8Array) => Uint8Array>> = {
  'nothing is left': () => new Uint8Array(),
  'one byte is left': (bytes) => bytes.slice(0, 1),
  'the last byte is gone': (bytes) => bytes.slice(0, -1),
  'a byte was added': (bytes) => Uint8Array.from([...bytes, 0]),
  'it is other text': () => new TextEncoder().encode('{"used":0}'),
  'it is all ones': (bytes) => bytes.map(() => 0xff),
}

/** For stores whose bytes the suite can't change: a reset starts from zero. */
async function resetBegins({ store }: CaseContext): Promise<void> {
  const probe = new Probe(store, SIX_WINDOWS, 10)
  const early = await probe.admitted(10)
  await probe.reset()
  const { states } = await probe.admitted(10)
  assert.ok(states.every((value, at) => at % 2 === 1 || value === early.now + 1))
}

function damageCase(name: string, run: (context: CaseContext) => Promise<void>): ContextCase {
  return { name, needs: 'damage', run, without: resetBegins }
}

async function cannotBeRead(probe: Probe, layers: readonly number[] = [0, 1]): Promise<void> {
  const limits = layers.flatMap(() => [10, 10, 10])
  await throwsCode(() => probe.take(1, { layers, limits }), 'damaged_row')
  await throwsCode(() => probe.states({ layers }), 'damaged_row')
}

/** Cases about damaged rows. Only one subject fails, and a reset repairs it. */
export const DAMAGE_CASES: readonly ContextCase[] = [
  ...Object.entries(DAMAGES).map(([what, change]) =>
    damageCase(`a damaged row (${what}) fails only its subject, and a reset repairs it`, async ({ store, damage }) => {
      const probe = new Probe(store, SIX_WINDOWS, 10)
      const early = await probe.admitted(4)
      await probe.admitted(1, { subject: 'v' })
      await probe.admitted(1, { category: 1 })
      await damage(OWN, change)
      await cannotBeRead(probe)
      await cannotBeRead(probe, [0])
      assert.deepEqual(await probe.used({ layers: [1] }), [5, 5, 5], 'the shared row is as it was')
      await probe.admitted(1, { subject: 'v' })
      await probe.admitted(1, { category: 1 })
      await probe.reset({ category: 0, layers: [0] })
      assert.deepEqual(await probe.used(), [0, 0, 0, 6, 6, 6])
      const { states } = await probe.admitted(4)
      assert.equal(states[0], early.now + 1, 'a start is never used twice')
      await probe.cancel(early, 4)
      assert.deepEqual(await probe.used(), [4, 4, 4, 6, 6, 6])
    }),
  ),
  damageCase('of concurrent requests, only that of the damaged row fails', async ({ store, peer, damage }) => {
    const probe = new Probe(store, SIX_WINDOWS, 100)
    for (const subject of ['u', 'v', 'w']) await probe.admitted(1, { subject })
    await damage(OWN, (bytes) => bytes.slice(0, -1))
    const outcomes = await Promise.all(
      ['v', 'u', 'w', 'u', 'v', 'w'].map((subject, index) =>
        probe.take(1, { subject, store: index % 2 === 0 ? store : peer }).then(
          ({ outcome }) => outcome,
          (error: { code?: unknown }) => error.code,
        ),
      ),
    )
    assert.deepEqual(outcomes, ['admitted', 'damaged_row', 'admitted', 'damaged_row', 'admitted', 'admitted'])
    assert.deepEqual(await probe.used({ layers: [1] }), [7, 7, 7])
  }),
  damageCase('a damaged shared row fails the requests of its layer and charges none of their rows', async (context) => {
    const { store, damage } = context
    const probe = new Probe(store, SIX_WINDOWS, 10)
    await probe.admitted(2)
    await damage(SHARED, (bytes) => bytes.slice(0, -1))
    await cannotBeRead(probe)
    assert.deepEqual(await probe.used({ layers: [0] }), [2, 2, 2])
    await probe.admitted(1, { layers: [0], limits: [10, 10, 10] })
    await probe.admitted(1, { category: 1 })
    await probe.reset({ layers: [1], category: 0 })
    await probe.admitted(1)
    assert.deepEqual(await probe.used(), [4, 4, 4, 1, 1, 1])
  }),
]
