import type { Quota } from '../engine/quota.ts'
import { QuotaError } from '../errors/quota-error.ts'
import { shown } from '../errors/shown.ts'
import { aClock, aFunction, having, optional, where, wholeNumber, withDefault } from '../options/checks.ts'
import { listed, noSuchName } from '../options/faults.ts'
import { optionsParser } from '../options/options-parser.ts'
import { ofUnit, unitNames } from '../policy/units.ts'
import type { Subject } from '../store/subjects.ts'
import { type Clock, systemClock } from '../time/clock.ts'
import { HeavyList, NameHash, Slices } from './heavy-list.ts'

/** The most subjects per report. */
const MAX_REPORTED = 100

/** A subject, and its sum in the period. */
export interface TopSubject {
  /** The subject's key in the counted layer. */
  readonly subject: string
  /** The amount spent, or the number of refused requests. Includes an estimate from before the subject was noticed. */
  readonly amount: number
  /** The certain part of the amount. */
  readonly atLeast: number
}

/** The subjects that spend the most, and those that are refused the most. See {@link topSubjects}. */
export interface TopSubjects {
  /** Returns when the counts start, in epoch milliseconds: between 5/6 of the period and the whole period ago. */
  sinceAt(): number
  /**
   * Returns the subjects that spent the most, the highest first. Later refunds aren't subtracted.
   *
   * @param of a category, which counts all of its operations, or an operation without a category
   * @param count how many, 1 to 100. Default: 10
   * @param unit one of the policy's units; required if it has several
   * @throws {QuotaError} `invalid_options` for an unknown category, operation or unit, or an invalid count
   */
  spent(of: string, count?: number, unit?: string): TopSubject[]
  /** Returns the subjects that were refused most often; see {@link spent}. */
  refused(of: string, count?: number): TopSubject[]
  /** Stops listening. The counts stay. */
  stop(): void
}

/**
 * Counts which subjects spend the most and are refused the most, over a sliding period, by category. Two
 * categories need about half a megabyte for any number of subjects. It listens to the engine's events, so it only counts
 * decisions of this process.
 *
 * @throws {QuotaError} `invalid_options` naming every fault
 * @example
 * const top = topSubjects({ quota, periodMs: 3_600_000 })
 * top.spent('write', 3) // [{ subject: 'u42', amount: 5_210, atLeast: 5_210 }, ...]
 */
export function topSubjects(options: TopSubjectsOptions): TopSubjects {
  const { quota, periodMs, clock, layer, only } = parseTopOptions(options)
  const { layers } = quota.policy
  const categories = new Map(
    Object.entries(quota.policy.operations).map(([name, { category = name }]) => [name, category]),
  )
  const names = [...new Set(categories.values())]
  const units = unitNames(quota.policy)
  const own = layer ?? layers.find(({ shared }) => !shared)!.name
  const slices = new Slices(periodMs, clock.now())
  const hash = new NameHash()
  const lists = (): ReadonlyMap<string, HeavyList> =>
    new Map(names.map((name) => [name, new HeavyList((name) => hash.of(name))]))
  const spent = new Map(units.map((unit) => [unit, lists()]))
  const refused = lists()

  const all = [...spent.values(), refused].flatMap((byName) => [...byName.values()])
  const advance = (): void =>
    slices.advance(clock.now(), {
      turn: (slice) => {
        for (const list of all) list.turn(slice)
      },
      clear: () => {
        for (const list of all) list.clear()
      },
    })
  const add = (list: ReadonlyMap<string, HeavyList>, { operation, subject }: Counted, amount: number): void => {
    advance()
    const name = keyOf(subject, own, only)
    if (typeof name === 'string' && amount > 0)
      list.get(categories.get(operation) ?? '')?.add(name, amount, slices.present)
  }
  const top = (list: ReadonlyMap<string, HeavyList>, of: string, count: number): TopSubject[] => {
    const found = list.get(of)
    if (found === undefined) {
      const category = categories.get(of)
      const message =
        category === undefined
          ? `no category or operation ${noSuchName(of, names, 'there are')}`
          : `"${of}" is counted with its category: ask for "${category}"`
      throw new QuotaError('invalid_options', message)
    }
    if (!Number.isSafeInteger(count) || count < 1 || count > MAX_REPORTED) {
      throw new QuotaError('invalid_options', `expected a count from 1 to ${MAX_REPORTED}, got ${shown(count)}`)
    }
    advance()
    return found.top(count).map(({ name, amount, atLeast }) => ({ subject: name, amount, atLeast }))
  }

  /** Returns the lists of a unit. */
  const spentOf = (unit: string | undefined): ReadonlyMap<string, HeavyList> => {
    const named = unit ?? (units.length === 1 ? units[0]! : undefined)
    const found = named === undefined ? undefined : spent.get(named)
    if (found !== undefined) return found
    throw new QuotaError('invalid_options', `unit: expected one of ${listed(units)}, got ${shown(unit)}`)
  }
  const stops = [
    quota.on('admitted', (decision) => {
      for (const unit of units) add(spentOf(unit), decision, ofUnit(decision.cost, unit))
    }),
    quota.on('overrun', (overrun) => {
      const { charged, reserved } = overrun
      for (const unit of units) add(spentOf(unit), overrun, ofUnit(charged, unit) - ofUnit(reserved, unit))
    }),
    quota.on('refused', (decision) => add(refused, decision, 1)),
  ]
  return {
    sinceAt() {
      advance()
      return slices.sinceAt
    },
    spent: (of, count = 10, unit = undefined) => top(spentOf(unit), of, count),
    refused: (of, count = 10) => top(refused, of, count),
    stop() {
      for (const stop of stops) stop()
    },
  }
}

/** Returns the key to count; none of a subject that isn't counted. */
function keyOf(subject: Subject, layer: string, only: TopSubjectsOptions['only']): string | null | undefined {
  if (only !== undefined && !only(subject)) return undefined
  return typeof subject === 'string' ? subject : subject[layer]
}

/** Whose operation is counted. */
interface Counted {
  readonly operation: string
  readonly subject: Subject
}

/** The options of {@link topSubjects}. */
export interface TopSubjectsOptions {
  /** The engine whose decisions are counted. */
  readonly quota: Pick<Quota, 'on' | 'policy'>
  /**
   * The length of the period in milliseconds, 6 seconds to 31 days. Counts expire in sixths.
   *
   * @default 600_000
   */
  readonly periodMs?: number | undefined
  /**
   * The layer whose keys are counted, if subjects have a key per layer. Not a shared layer.
   *
   * @default the first layer that isn't shared
   */
  readonly layer?: string | undefined
  /**
   * Which subjects are counted, for example those of one organisation. Called at each decision, so keep it fast.
   *
   * @default all of them
   * @example (subject) => typeof subject === 'object' && subject.team === 'blue'
   */
  readonly only?: ((subject: Subject) => boolean) | undefined
  /** @default the system clock */
  readonly clock?: Clock | undefined
}

/** The options with all defaults except the layer's. */
interface ParsedOptions extends TopSubjectsOptions {
  readonly periodMs: number
  readonly clock: Clock
}

/** @throws {QuotaError} `invalid_options` naming every fault */
const parseTopOptions: (options: unknown) => ParsedOptions = /* @__PURE__ */ optionsParser<ParsedOptions>(
  'topSubjects()',
  () => ({
    quota: having<TopSubjectsOptions['quota']>(['on', 'status'], 'an engine: what createQuota() gives'),
    periodMs: withDefault(wholeNumber(6_000, 31 * 86_400_000, 'milliseconds'), 600_000),
    layer: optional(where<string>((value) => typeof value === 'string', "a layer's name")),
    only: optional(aFunction<NonNullable<TopSubjectsOptions['only']>>()),
    clock: withDefault(aClock(), systemClock),
  }),
  {
    between({ quota, layer }) {
      const own = quota.policy.layers.filter(({ shared }) => !shared).map(({ name }) => name)
      if (layer === undefined || own.includes(layer)) return []
      return [{ path: 'layer', message: `no limit is by ${noSuchName(layer, own, 'the policy has')}` }]
    },
  },
)
