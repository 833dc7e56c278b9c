import { describe, expect, it } from 'vitest'
import { noncesBy } from '../src/engine/decide/check.ts'

describe('nonces', () => {
  it('nonces are unique within an engine and across engines', () => {
    const engines = [noncesBy(undefined), noncesBy(undefined)]
    const made = engines.flatMap(({ ofId, ofHold }) => Array.from({ length: 100 }, () => [ofId(), ofHold()]).flat())
    expect(new Set(made).size).toBe(400)
  })

  it('nonces of holds can’t be guessed from each other', () => {
    const { ofHold } = noncesBy(undefined)
    expect([ofHold(), ofHold()].map((nonce) => nonce.slice(0, 8))).toSatisfy(([a, b]) => a !== b)
  })

  it('nonces come from the caller’s function if there is one', () => {
    const { ofId, ofHold } = noncesBy(() => 'mine')
    expect([ofId(), ofHold()]).toEqual(['mine', 'mine'])
  })
})
