import type { Quota } from '../engine/quota.ts'
import { QuotaError } from '../errors/quota-error.ts'
import { shown } from '../errors/shown.ts'
import { aClock, having, optional, where, wholeNumber, withDefault } from '../options/checks.ts'
import { listed, noSuchName } from '../options/faults.ts'
import { optionsParser } from '../options/options-parser.ts'
import { ofUnit, unitNames } from '../policy/units.ts'
import type { Subject } from '../store/schema.ts'
import { type Clock, systemClock } from '../time/clock.ts'
import { HeavyList, NameHash, Slices } from './heavy-list.ts'

/** Most subjects that are reported. */
const MAX_REPORTED = 100

/** The result of one subject's requests in the period. */
export interface TopSubject {
  /** The subject's key in the layer that is counted. */
  readonly subject: string
  /** What was spent, or requests refused: what was counted, and what the subject probably had before it was noticed. */
  readonly amount: number
  /** As much as that for certain. */
  readonly atLeast: number
}

/** Who spends and who is refused most, as {@link topSubjects} gives it. */
export interface TopSubjects {
  /** The beginning of the counts, in epoch milliseconds: between 5/6 of the period and all of it ago. */
  sinceAt(): number
  /**
   * Those who spent the most, the most first. Tokens given back later are not subtracted.
   *
   * @param count how many, 1 to 100; 10 where left out
   * @param unit what they spent: one of the policy's, needed where it has several
   * @throws {QuotaError} `invalid_options` for a category or unit that there is not, or another count
   */
  spent(category: string, count?: number, unit?: string): TopSubject[]
  /** Those whose requests were refused most often; as {@link spent}. */
  refused(category: string, count?: number): TopSubject[]
  /** Stops listening; the counts stay. */
  stop(): void
}

/**
 * Counts who spends and who is refused most, over a sliding period, in about half a megabyte however many subjects there
 * are. It listens to the engine's events: what other processes decide is theirs to count.
 *
 * @throws {QuotaError} `invalid_options` naming every fault
 * @example
 * const top = topSubjects({ quota, periodMs: 3_600_000 })
 * top.spent('write', 3) // [{ subject: 'u42', amount: 5_210, atLeast: 5_210 }, ...]
 */
export function topSubjects(options: TopSubjectsOptions): TopSubjects {
  const { quota, periodMs, clock, layer } = parseTopOptions(options)
  const { categories, layers } = quota.policy
  const units = unitNames(quota.policy)
  const own = layer ?? layers.find(({ shared }) => !shared)!.name
  const slices = new Slices(periodMs, clock.now())
  const hash = new NameHash()
  const lists = (): ReadonlyMap<string, HeavyList> =>
    new Map(categories.map((category) => [category, new HeavyList((name) => hash.of(name))]))
  const spent = new Map(units.map((unit) => [unit, lists()]))
  const refused = lists()

  const all = [...spent.values(), refused].flatMap((ofCategories) => [...ofCategories.values()])
  const advance = (): void =>
    slices.advance(clock.now(), {
      turn: (slice) => {
        for (const list of all) list.turn(slice)
      },
      clear: () => {
        for (const list of all) list.clear()
      },
    })
  const add = (list: ReadonlyMap<string, HeavyList>, category: string, subject: Subject, amount: number): void => {
    advance()
    const name = typeof subject === 'string' ? subject : subject[own]
    if (name !== undefined && amount > 0) list.get(category)?.add(name, amount, slices.present)
  }
  const top = (list: ReadonlyMap<string, HeavyList>, category: string, count: number): TopSubject[] => {
    const found = list.get(category)
    if (found === undefined) {
      throw new QuotaError('invalid_options', `no category ${noSuchName(category, categories, 'the policy has')}`)
    }
    if (!Number.isSafeInteger(count) || count < 1 || count > MAX_REPORTED) {
      throw new QuotaError('invalid_options', `expected a count from 1 to ${MAX_REPORTED}, got ${shown(count)}`)
    }
    advance()
    return found.top(count).map(({ name, amount, atLeast }) => ({ subject: name, amount, atLeast }))
  }

  /** The lists of a unit. */
  const spentOf = (unit: string | undefined): ReadonlyMap<string, HeavyList> => {
    const named = unit ?? (units.length === 1 ? units[0]! : undefined)
    const found = named === undefined ? undefined : spent.get(named)
    if (found !== undefined) return found
    throw new QuotaError('invalid_options', `unit: expected one of ${listed(units)}, got ${shown(unit)}`)
  }
  const stops = [
    quota.on('admitted', ({ category, subject, cost }) => {
      for (const unit of units) add(spentOf(unit), category, subject, ofUnit(cost, unit))
    }),
    quota.on('overrun', ({ category, subject, charged, reserved }) => {
      for (const unit of units) add(spentOf(unit), category, subject, ofUnit(charged, unit) - ofUnit(reserved, unit))
    }),
    quota.on('refused', ({ category, subject }) => add(refused, category, subject, 1)),
  ]
  return {
    sinceAt() {
      advance()
      return slices.sinceAt
    },
    spent: (category, count = 10, unit = undefined) => top(spentOf(unit), category, count),
    refused: (category, count = 10) => top(refused, category, count),
    stop() {
      for (const stop of stops) stop()
    },
  }
}

/** The options of {@link topSubjects}. */
export interface TopSubjectsOptions {
  /** The engine whose decisions are counted. */
  readonly quota: Pick<Quota, 'on' | 'policy'>
  /**
   * How far back is counted, in milliseconds, 6 seconds to 31 days; forgotten in sixths.
   * @default 600_000
   */
  readonly periodMs?: number | undefined
  /**
   * The layer whose keys are counted, where subjects have one for each layer; not a shared one.
   * @default the policy's first layer that is not shared
   */
  readonly layer?: string | undefined
  /** @default the machine's */
  readonly clock?: Clock | undefined
}

/** The same with the defaults filled in, but for the layer. */
interface ParsedOptions extends TopSubjectsOptions {
  readonly periodMs: number
  readonly clock: Clock
}

/** @throws {QuotaError} `invalid_options` naming every fault */
const parseTopOptions: (options: unknown) => ParsedOptions = /* @__PURE__ */ optionsParser<ParsedOptions>(
  'topSubjects()',
  () => ({
    quota: having<TopSubjectsOptions['quota']>(['on', 'inForce'], 'an engine: what createQuota() gives'),
    periodMs: withDefault(wholeNumber(6_000, 31 * 86_400_000, 'milliseconds'), 600_000),
    layer: optional(where<string>((value) => typeof value === 'string', "a layer's name")),
    clock: withDefault(aClock(), systemClock),
  }),
  {
    between({ quota, layer }) {
      const own = quota.policy.layers.filter(({ shared }) => !shared).map(({ name }) => name)
      if (layer === undefined || own.includes(layer)) return []
      return [{ path: 'layer', message: `no layer of subjects' own ${noSuchName(layer, own, 'the policy has')}` }]
    },
  },
)
