import fc from 'fast-check'
import { type Policy, parsePolicy } from '../../src/index.ts'

/** A limit as it is written. All count requests. */
export interface LimitText {
  readonly by?: string
  readonly shared?: string
  readonly limit?: number
  readonly concurrency?: number
  readonly per?: string
  readonly for?: string | readonly string[]
  readonly shadow?: boolean
  readonly formerly?: string
}

type Limits = Readonly<Record<string, LimitText>>

/** A policy, and its text for the model. */
export interface Living {
  readonly limits: Limits
  readonly policy: Policy
}

export const PRICES = { list: 2, save: 3, work: 1, health: 0 } as const
export type Operation = keyof typeof PRICES
export const CATEGORIES: Readonly<Record<Operation, string>> = {
  list: 'reads',
  save: 'writes',
  work: 'writes',
  health: 'checks',
}
const OPERATIONS = {
  list: { cost: 2, category: 'reads' },
  save: { cost: 3, category: 'writes' },
  work: { category: 'writes' },
  health: { cost: 0, category: 'checks', free: true },
}

/** No edit removes or narrows this limit: an operation that nothing counts would be a fault. */
const KEPT = 'all'

const FIRST: Limits = {
  short: { by: 'user', limit: 12, per: '10s' },
  writes: { by: 'user', limit: 12, per: '1m', for: 'writes' },
  running: { by: 'user', concurrency: 2, for: 'work' },
  long: { by: 'user', limit: 21, per: '1h' },
  [KEPT]: { shared: 'site', limit: 40, per: '1h' },
  siteWrites: { shared: 'site', limit: 20, per: '1m', for: ['save', 'work'] },
}

/** Half of the policies have a second layer of subjects' own. */
const FIRSTS: readonly Limits[] = [FIRST, { ...FIRST, teams: { by: 'team', limit: 30, per: '1h' } }]

const LENGTHS = ['10s', '20s', '1m', '90s', '1h']
const WHOSE: readonly LimitText[] = [{ by: 'user' }, { by: 'team' }, { shared: 'org' }, { shared: 'site' }]
const COUNTED = ['reads', 'writes', 'save', ['list', 'work'], undefined] as const

type Edit = (limits: Limits) => Limits

/** An edit of one limit, by its position. */
function ofOne(at: number, edit: (name: string, text: LimitText) => Readonly<Record<string, LimitText>>): Edit {
  return (limits) => {
    const entries = Object.entries(limits)
    const [name, text] = entries[at % entries.length]!
    if (name === KEPT) return limits
    return Object.fromEntries(
      entries.flatMap((entry) => (entry[0] === name ? Object.entries(edit(name, text)) : [entry])),
    )
  }
}

const position = fc.nat(11)
const edit: fc.Arbitrary<Edit> = fc.oneof(
  fc.tuple(fc.constantFrom('a', 'zz'), fc.constantFrom(...WHOSE), fc.constantFrom(...LENGTHS), fc.nat(20)).map(
    ([name, whose, per, limit]): Edit =>
      (limits) => ({ ...limits, [name]: { ...whose, per, limit } }),
  ),
  position.map((at) => ofOne(at, () => ({}))),
  fc.constant((limits: Limits) => Object.fromEntries(Object.entries(limits).filter(([, { by }]) => by === undefined))),
  fc.constant((limits: Limits) => Object.fromEntries(Object.entries(limits).reverse())),
  fc
    .tuple(position, fc.constantFrom(...LENGTHS))
    .map(([at, per]) => ofOne(at, (name, text) => ({ [name]: text.per === undefined ? text : { ...text, per } }))),
  fc
    .tuple(position, fc.nat(20))
    .map(([at, limit]) => ofOne(at, (name, text) => ({ [name]: text.per === undefined ? text : { ...text, limit } }))),
  fc.tuple(position, fc.constantFrom(...COUNTED)).map(([at, counted]) =>
    ofOne(at, (name, { for: was, ...text }) => {
      const now = counted ?? (text.per === undefined ? was : undefined)
      return { [name]: now === undefined ? text : { ...text, for: now } }
    }),
  ),
  position.map((at) => ofOne(at, (name, text) => ({ [`${name}-new`]: { formerly: name, ...text } }))),
  position.map((at) => ofOne(at, (name, text) => ({ [name]: { ...text, shadow: text.shadow !== true } }))),
)

/** What identifies a limit's counter. */
export function counterOf(name: string, { by, shared, per, formerly = name }: LimitText): string {
  return JSON.stringify([by ?? shared, formerly, per])
}

/** Whether no two limits have one counter, or one name before: these are faults, of which other tests are. */
function areApart(limits: Limits): boolean {
  const counters = Object.entries(limits).map(([name, text]) => counterOf(name, text))
  const isNew = Object.values(limits).every(({ formerly }) => formerly === undefined || !(formerly in limits))
  return isNew && new Set(counters).size === counters.length
}

/** A policy, an edited one, and the first again, as it is rolled back. */
export const policies: fc.Arbitrary<readonly Living[]> = fc
  .tuple(fc.constantFrom(...FIRSTS), fc.array(edit, { maxLength: 3 }), fc.array(edit, { minLength: 1, maxLength: 4 }))
  .map(([start, before, after]) => {
    const changed = (limits: Limits, edits: readonly Edit[]): Limits => edits.reduce((text, each) => each(text), limits)
    const first = changed(start, before)
    return [first, changed(first, after), first]
  })
  .filter((texts) => texts.every(areApart))
  .map((texts) => texts.map((limits) => ({ limits, policy: parsePolicy({ limits, operations: OPERATIONS }) })))
