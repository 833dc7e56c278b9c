import { readFileSync } from 'node:fs'
import { checkMachine, counterexamples, type LeftOut, type Proof, timelineOf } from '@scoregw/quota-histories'
import { slowTests } from '@scoregw/server-kit'
import { describe, expect, it } from 'vitest'
import { TIMEOUT_MS } from '../runs.ts'
import { committedProofs, pagesOf } from './pages.ts'
import { PROOFS } from './proofs.ts'

const deep = process.env.QUOTA_TEST_DEEP === '1'
const results = committedProofs()

/** How many different states there are at least: an exploration that sees fewer has lost actions. */
const STATES: Readonly<Record<string, number>> = {
  windows: 952,
  rows: 17_485,
  'settings-with-counters': 2_956,
  'settings-elsewhere': 24_974,
  holds: 16_397,
}

describe.runIf(slowTests).each(PROOFS)('$title', (proof) => {
  const depth = deep ? proof.depths.usual : proof.depths.quick
  it(`every history of ${depth} actions keeps the promises`, { timeout: TIMEOUT_MS }, () => {
    expect(checkMachine(proof, depth).states).toBeGreaterThanOrEqual(STATES[proof.slug] ?? Number.NaN)
  })

  it.runIf(deep && proof.known !== undefined)(
    'the known counterexample breaks its promise, and no shorter one does',
    () => {
      const { promise, history = [] } = proof.known ?? {}
      expect(checkMachine(proof, history.length).broken).toEqual({ promise, history })
    },
  )

  it('every rule is needed, with the counterexample on its page', { timeout: TIMEOUT_MS }, () => {
    const committed = results.find(({ slug }) => slug === proof.slug)
    expect(counterexamples(proof, proof.depths.usual)).toEqual(committed?.counterexamples)
  })
})

describe('npm run prove', () => {
  const [proof] = PROOFS as readonly [Proof, ...Proof[]]

  it('npm run prove fails if a rule has no variant or a variant breaks nothing', () => {
    expect(() => counterexamples({ ...proof, rules: { idle: [] } }, 2)).toThrow('no variant leaves out the rule "idle"')
    const idle: LeftOut = { fault: 'nothing is left out', machine: proof.machine, promise: 'all' }
    expect(() => counterexamples({ ...proof, rules: { idle: [idle] } }, 2)).toThrow('broke nothing')
  })

  it('npm run prove fails if a promise is broken, and shows the history', () => {
    const [rule = []] = Object.values(proof.rules)
    const machine = rule[0]?.machine ?? proof.machine
    expect(() => checkMachine({ ...proof, machine }, 3)).toThrow(
      'Two windows of one row: a limit was passed, after: a request of 2, a window ends, a request of 2',
    )
  })

  it('a history is drawn with a line for each actor', () => {
    expect(timelineOf(['old takes', 'time passes', 'old resets'], 'it is lost', ['old', 'young'])).toEqual([
      'old --[takes]-----------------[resets]-->',
      '    -----------[time passes]------------>',
      '                                        ^ it is lost',
    ])
  })

  it.each(Object.entries(pagesOf(results)))('%s is up to date (npm run prove -- --pages)', (file, text) => {
    expect(readFileSync(file, 'utf8')).toBe(text)
  })
})
