import type { RowRules } from '@scoregw/quota-histories'
import { explore, type Place, rowMachine, type SettingsRules, settingsMachine } from '@scoregw/quota-histories'
import { describe, expect, it } from 'vitest'
import { DEPTHS, TIMEOUT_MS } from './runs.ts'

type LeftOut<Rules> = readonly (readonly [rule: string, left: Partial<Rules>, broken: string])[]

const ROWS: LeftOut<RowRules> = [
  ['kept for as long as the writer needs', { expiry: 'from own cells alone' }, 'window c is lost'],
  ['kept for as long as it was', { expiry: 'as it was' }, 'window c is lost'],
  ['kept to the millisecond', { grace: 'none' }, 'window b is lost'],
  ['cells that are unknown are dropped', { unknown: 'dropped' }, 'window a is lost'],
  ['a charge goes by the first cell', { charge: 'of the first cell' }, 'window b began at 10 instead of 11'],
  ['a reset goes by the first cell', { close: 'by the first cell' }, 'window b is open, and ought not to be'],
  ['a reset closes the whole row', { reset: 'the whole row' }, 'window a is lost'],
  ['a window opens at the instant', { start: 'now' }, 'window a began at 10 instead of 11'],
  ['numbers are assigned to cells', { name: 'assigned number' }, 'window b is lost'],
]

const TOGETHER: LeftOut<SettingsRules> = [
  ['only higher versions are adopted', { adopts: 'higher versions alone' }, 'a process never follows what is stored'],
  ['equal versions are the same', { sameness: 'version' }, 'a process never follows what is stored'],
  ['absence is ignored', { absence: 'ignored' }, 'a process never follows what is stored'],
  ['a replica is asked', { asks: 'a replica' }, 'a second answer is stale, and nothing changed'],
]

const APART: LeftOut<SettingsRules> = [
  ...TOGETHER.slice(0, 3),
  ['nothing is announced again', { announces: 'never' }, 'a process is stale for ever'],
  ['only higher versions are announced again', { announces: 'over lower versions' }, 'a process is stale for ever'],
  [
    'whatever was read is announced again',
    { announces: 'over anything' },
    'what is stored was announced, and is announced no more',
  ],
  [
    'the look began before the answer',
    { looks: 'before the answer' },
    'what is stored was announced, and is announced no more',
  ],
]

describe('one row that two policies write', () => {
  it(`keeps its promises in every history of ${DEPTHS.rows} steps`, { timeout: TIMEOUT_MS }, () => {
    const { states, broken } = explore(rowMachine(), DEPTHS.rows)
    expect(broken).toBeUndefined()
    expect(states).toBeGreaterThan(10_000)
  })

  it.each(ROWS)('breaks one where %s', (_, left, promise) => {
    const { broken } = explore(rowMachine(left), DEPTHS.rows)
    expect(broken?.promise, broken?.history.join(', ')).toBe(promise)
  })

  it('breaks one in three ticks where it is kept for as long as the writer needs', () => {
    expect(explore(rowMachine({ expiry: 'from own cells alone' }), DEPTHS.rows).broken).toEqual({
      promise: 'window c is lost',
      history: ['young takes', 'old takes', 'time passes', 'time passes', 'time passes'],
    })
  })
})

describe.each<[Place, LeftOut<SettingsRules>]>([
  ['with the counters', TOGETHER],
  ['elsewhere', APART],
])('settings that are stored %s', (place, leftOut) => {
  it(`are followed in every history of ${DEPTHS.settings} steps`, { timeout: TIMEOUT_MS }, () => {
    const { states, broken } = explore(settingsMachine(place), DEPTHS.settings)
    expect(broken).toBeUndefined()
    expect(states).toBeGreaterThan(1_000)
  })

  it.each(leftOut)('are not where %s', (_, left, promise) => {
    const { broken } = explore(settingsMachine(place, left), DEPTHS.settings)
    expect(broken?.promise, broken?.history.join(', ')).toBe(promise)
  })
})
