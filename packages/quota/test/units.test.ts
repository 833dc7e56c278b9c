import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cellOfIdentity, cellsIn, named, SLOTS, slotsCell, windowCell } from '../src/internal.ts'
import { costText } from '../src/policy/units.ts'
import { amountsIn } from '../src/windows/identity.ts'

const CALENDAR = { label: 'month', every: 'month', timeZone: 'Asia/Shanghai' } as const

describe('identities of cells', () => {
  it('an identity ends with its unit unless that is tokens', () => {
    expect(windowCell({ label: '5h', lengthMs: 18_000_000 }).identity).toBe('rolling 5h 18000000')
    expect(windowCell({ label: '5h', lengthMs: 18_000_000 }, 'microusd').identity).toBe(
      'rolling 5h 18000000 unit:microusd',
    )
    expect(windowCell(CALENDAR, 'requests').identity).toBe(
      'calendar month 2851200000 month Asia/Shanghai 1 00:00 unit:requests',
    )
  })

  it('an identity contains every property of its cell', () => {
    const cells = [
      windowCell({ label: '5h', lengthMs: 18_000_000 }),
      windowCell({ label: '5h', lengthMs: 18_000_000 }, 'microusd'),
      windowCell(CALENDAR),
      windowCell(CALENDAR, 'requests'),
      slotsCell('running'),
    ]
    for (const cell of cells) expect(cellOfIdentity(cell.identity)).toEqual(cell)
  })

  it.each([
    '',
    'rolling',
    'rolling 5h',
    'rolling 5h 0',
    'rolling 5h 018',
    'rolling 5h 18 unit:',
    'rolling 5h 18 unit:tokens',
    'rolling 5h 18 unit:slots',
    'rolling 5h 18 unit:__proto__',
    'rolling 5h 18 unit:requests unit:tokens',
    'rolling 5h 18  unit:requests',
    'rolling 5h 18 unit:two words',
    'concurrency running unit:requests',
    'concurrency running 18',
    'constructor 5h 18',
  ])('%j isn’t an identity', (identity) => {
    expect(cellOfIdentity(identity)).toBeUndefined()
  })

  it('any text is the identity of one cell or of none', () => {
    const word = fc.constantFrom(
      'rolling',
      'calendar',
      'concurrency',
      '5h',
      '18',
      '-1',
      'month',
      'UTC',
      'unit:a',
      'unit:',
      '',
    )
    fc.assert(
      fc.property(fc.array(word, { maxLength: 7 }), (words) => {
        const identity = words.join(' ')
        const cell = cellOfIdentity(identity)
        expect(cell === undefined ? identity : cell.identity).toBe(identity)
      }),
      { numRuns: 2_000 },
    )
  })

  it('an identity has a place among the units of a schema, and slots are last', () => {
    const limits = [slotsCell('running'), windowCell(CALENDAR, 'requests'), windowCell({ label: '5h', lengthMs: 5 })]
    const unitsOf = (units: readonly string[]) => cellsIn(units, limits).map(({ label, unit }) => [label, unit])
    expect(unitsOf(['tokens', 'requests'])).toEqual([
      ['5h', 0],
      ['month', 1],
      ['running', 2],
    ])
    expect(unitsOf(['requests', 'tokens'])).toEqual([
      ['5h', 1],
      ['month', 0],
      ['running', 2],
    ])
  })
})

describe('amounts by unit', () => {
  it('amounts are stored by name in any order of units', () => {
    const amounts = named(['requests', 'tokens', 'microusd'], [1, 0, 9, 1])
    expect(amounts).toEqual({ requests: 1, microusd: 9, [SLOTS]: 1 })
    expect(amountsIn(['microusd', 'tokens', 'requests'], amounts)).toEqual([9, 0, 1])
    expect(amountsIn(['tokens'], amounts)).toEqual([0])
  })

  it('costs are compared as given: numbers as they are, records sorted by name', () => {
    expect([undefined, 0, 812].map(costText)).toEqual(['', '0', '812'])
    expect(costText({ tokens: 812, microusd: 3 })).toBe('microusd=3,tokens=812')
    expect(costText({ microusd: 3, tokens: 812 })).toBe('microusd=3,tokens=812')
    expect(costText({ tokens: 812, microusd: 0 })).not.toBe(costText({ tokens: 812 }))
  })
})
