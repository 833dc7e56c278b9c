import { describe, expect, it } from 'vitest'
import { CONFORMANCE_CASES, describeStore, runCase } from '../src/index.ts'
import { type Faults, fullFactory } from './full-store.ts'

describeStore({ describe, it }, fullFactory(), 'a store with every capability of a server')

const FAULTS: readonly Faults[] = [
  { revision: 'charges what is stale' },
  { revision: 'takes only higher ones for others' },
  { revision: 'takes nothing stored for anything' },
  { revision: 'takes nothing known for anything' },
  { damage: 'cannot be mended' },
  { damage: 'begins at the instant' },
  { expiry: 'goes by the last writer' },
  { expiry: 'stays as it was' },
  { deadline: 'is not kept' },
]

describe('faulty servers', () => {
  it.each(FAULTS)('the cases of its capability find the fault %o', async (faults) => {
    const [capability] = Object.keys(faults).map((name) => (name === 'revision' ? 'revisions' : name))
    const cases = CONFORMANCE_CASES.filter(({ needs }) => needs?.join() === capability)
    const failed = await Promise.all(
      cases.map((each) =>
        runCase(each, fullFactory(faults)).then(
          () => 0,
          () => 1,
        ),
      ),
    )
    expect(failed).toContain(1)
  })
})
