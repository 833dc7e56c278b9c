import { isObject } from '../options/checks.ts'
import { fits } from '../options/faults.ts'
import { type Burst, burstUnder } from '../windows/kinds/bucket.ts'
import {
  anchorCheck,
  type Calendar,
  type CalendarAnchor,
  type CalendarWindow,
  type OwnAnchor,
} from '../windows/kinds/calendar.ts'
import { KINDS } from '../windows/kinds.ts'
import { hasLimit, layerAt, namesAt, placedLimits, setOf } from './cells.ts'
import type { LayerDefinition, Limit, LimitTable, PlanTable, Policy } from './policy.ts'
import type { Mode, Settings, SubjectSettings } from './settings.ts'
import { hundredths, isInstant, ownOf } from './values.ts'

/** Factors of the fixed modes in hundredths, so that limits stay integers. `custom` has its own table. */
const MODE_HUNDREDTHS: Readonly<Record<Exclude<Mode, 'adaptive' | 'custom'>, number>> = {
  conservative: 75,
  normal: 100,
  lenient: 150,
}

/** The lowest and highest factor of mode `adaptive`, in hundredths. */
export const ADAPTIVE_HUNDREDTHS = { min: 75, max: 150 } as const

/** The limits of a subject: the applying layers, and the effective limit of each of their windows. */
export interface Quotas {
  /** Indices of the store's layers that apply. */
  readonly layers: readonly number[]
  /**
   * The limits that decide, in tokens, by position; those of layers that don't apply have no meaning. `Infinity`:
   * unlimited, shadowed, or absent in this layer and category. For a bucket: its burst.
   */
  readonly limits: readonly number[]
  /**
   * How many tokens each bucket refills in its length, by position. Shadowed buckets have a rate, too. 0: no refill, as
   * for unlimited buckets and other kinds. `undefined`: the policy has no bucket.
   */
  readonly rates?: readonly number[] | undefined
  /** The sets whose concurrency the policy limits, but no applying layer does. Then work takes no slot. */
  readonly slotless?: readonly number[] | undefined
  /** The shadowed limits by position; `undefined` for all others. Absent if none is shadowed. */
  readonly shadowed?: readonly (number | undefined)[] | undefined
  /**
   * When the subject's periods start, for each of the policy's layers; `null`: at the calendar's start. Present if the
   * policy has windows with `anchor: 'subject'` and the subject has an anchor in some layer.
   */
  readonly anchors?: readonly (OwnAnchor | null)[] | undefined
  /**
   * The limits after an override or a plan of the subject ends, and when it does, in epoch milliseconds. Absent if
   * none ends.
   */
  readonly later?: { readonly from: number; readonly quotas: Quotas } | undefined
}

/**
 * `floor(base x mode x multiplier)` in exact integers. Both factors are in hundredths. A base above 0 never becomes 0.
 */
export function scaledLimit(base: Limit, modeHundredths: number, multiplierHundredths: number): number {
  if (base === 'unlimited') return Number.POSITIVE_INFINITY
  if (base === 0) return 0
  return Math.max(1, Math.floor((base * modeHundredths * multiplierHundredths) / 10_000))
}

/** The inputs of all subjects' limits. */
export interface LimitInputs {
  readonly policy: Policy
  readonly settings: Settings
  /** The factor of mode `adaptive`, in hundredths: 75 to 150. */
  readonly factorHundredths: number
}

/** The subject whose limits are computed. */
export interface LimitsOf {
  /** The subject's effective settings, by layer name. Layers without settings are absent. */
  readonly subjects?: Readonly<Record<string, SubjectSettings>> | undefined
  /** The plan in the request. */
  readonly plan?: string | undefined
}

/**
 * Computes the quotas of a subject.
 *
 * A layer that isn't shared: the override if there is one, else `floor(value x mode)`. The value is that of the plan,
 * or the base. The plan in the subject's settings of the layer takes precedence over the request's. Unknown plans have
 * no values.
 *
 * A shared layer: `floor(base x mode x multiplier)`, if the layer is on and the subject doesn't bypass it.
 *
 * In mode `custom`, its table is the base, and neither it nor plans are scaled. Concurrency is never scaled.
 */
export function effectiveQuotas(terms: LimitInputs, of: LimitsOf = {}): Quotas {
  const { policy, settings } = terms
  const { layers, categories } = policy
  const bypassed = new Set(Object.values(of.subjects ?? {}).flatMap((subject) => subject.bypass))
  const applies = layers.map(({ name, shared }) => !shared || (settings.layers[name]!.enabled && !bypassed.has(name)))
  const table = modeTable(terms)
  const effective = layers.flatMap((layer) =>
    categories.flatMap((category) => layerLimits(terms, table, of, layer, category)),
  )
  const { limits, rates } = withBursts(policy, effective)
  const anchors = anchorsOf(policy, of)
  const slotless = slotlessSets(policy, applies)
  return {
    layers: layers.flatMap((_, layer) =>
      applies[layer]! ? categories.map((__, category) => layerAt(policy, layer, category)) : [],
    ),
    ...inShadow(terms, limits),
    ...(rates !== undefined && { rates }),
    ...(anchors !== undefined && { anchors }),
    ...(slotless.length > 0 && { slotless }),
  }
}

/** Splits the limits of buckets into refill rates and bursts. */
function withBursts(policy: Policy, effective: readonly number[]): Pick<Quotas, 'limits' | 'rates'> {
  const { cells } = placedLimits(policy).layout
  const burstAt = (at: number): Burst | undefined =>
    policy.windows.find(({ label }) => label === cells[at]!.label)?.burst
  const bursts = effective.map((_, at) => burstAt(at))
  if (bursts.every((burst) => burst === undefined)) return { limits: effective }
  return {
    limits: effective.map((limit, at) => (bursts[at] === undefined ? limit : burstUnder(limit, bursts[at]))),
    rates: effective.map((limit, at) => (bursts[at] === undefined || limit === Number.POSITIVE_INFINITY ? 0 : limit)),
  }
}

/** @param applies by layer */
function slotlessSets(policy: Policy, applies: readonly boolean[]): readonly number[] {
  const { concurrency, layers, categories } = policy
  if (concurrency === undefined) return []
  return categories.flatMap((category, index) => {
    const limiting = layers.map(({ name }) => hasLimit(policy, name, category, concurrency.label))
    return limiting.includes(true) && !limiting.some((isLimiting, layer) => isLimiting && applies[layer]!)
      ? [setOf(index)]
      : []
  })
}

/** Returns when a subject's periods start, by layer; `undefined`: all start with the calendar's. */
function anchorsOf(policy: Policy, { subjects }: LimitsOf): Quotas['anchors'] {
  if (ownPeriodWindows(policy).length === 0) return undefined
  const anchors = policy.layers.map(({ name }) => ownOf(subjects, name)?.anchor ?? null)
  return anchors.every((anchor) => anchor === null) ? undefined : anchors
}

function layerLimits(
  { policy, settings }: LimitInputs,
  { table, hundredths: mode }: ModeTable,
  { subjects, plan: requested }: LimitsOf,
  { name, shared }: LayerDefinition,
  category: string,
): number[] {
  const multiplier = shared ? hundredths(settings.layers[name]!.multiplier)! : 100
  const subject = ownOf(subjects, name)
  const overrides = ownOf(subject?.overrides, category)
  const plan = shared ? undefined : (subject?.plan ?? requested)
  return placedLimits(policy).rowCells.map(({ kind, label }) => {
    if (!hasLimit(policy, name, category, label)) return Number.POSITIVE_INFINITY
    const override = ownOf(overrides, label) ?? null
    if (override !== null) return scaledLimit(override, 100, 100)
    const planned = plan === undefined ? undefined : planLimit(policy, settings, plan, name, category, label)
    const value = planned ?? table[name]![category]![label]!
    return KINDS[kind].isWindow ? scaledLimit(value, mode, multiplier) : scaledLimit(value, 100, 100)
  })
}

/** Removes shadowed limits from those that decide. */
function inShadow(
  { policy, settings: { shadow } }: LimitInputs,
  effective: readonly number[],
): Pick<Quotas, 'limits' | 'shadowed'> {
  if (Object.keys(shadow).length === 0) return { limits: effective }
  const { layout } = placedLimits(policy)
  const shadowed = effective.map((limit, at) => {
    const { layer, category } = namesAt(policy, at)
    const { label } = layout.cells[at]!
    const inShade = ownOf(shadow, layer)
    const isShadowed = inShade === 'all' || inShade?.includes(label) === true
    return isShadowed && hasLimit(policy, layer, category, label) ? limit : undefined
  })
  if (shadowed.every((limit) => limit === undefined)) return { limits: effective }
  const limits = effective.map((limit, at) => (shadowed[at] === undefined ? limit : Number.POSITIVE_INFINITY))
  return { limits, shadowed }
}

/** The table that a mode uses, and its factor in hundredths. */
interface ModeTable {
  readonly table: LimitTable
  readonly hundredths: number
}

function modeTable({ settings, factorHundredths }: LimitInputs): ModeTable {
  if (settings.mode === 'custom') return { table: settings.custom!, hundredths: 100 }
  if (settings.mode === 'adaptive') return { table: settings.base, hundredths: factorHundredths }
  return { table: settings.base, hundredths: MODE_HUNDREDTHS[settings.mode] }
}

/** The names of all plans: the policy's, and those that only the settings have. */
export function planNames(policy: Pick<Policy, 'plans'>, settings: Pick<Settings, 'plans'>): readonly string[] {
  return [...new Set([...Object.keys(policy.plans ?? {}), ...Object.keys(settings.plans)])]
}

/** A plan's limit in the settings, else in the policy; `undefined`: it follows the base. */
export function planLimit(
  policy: Pick<Policy, 'plans'>,
  settings: Pick<Settings, 'plans'>,
  plan: string,
  layer: string,
  category: string,
  label: string,
): Limit | undefined {
  const limitIn = (plans: Readonly<Record<string, PlanTable>> | undefined): Limit | undefined =>
    ownOf(ownOf(ownOf(ownOf(plans, plan), layer), category), label)
  return limitIn(settings.plans) ?? limitIn(policy.plans)
}

/** The most changes of an anchor in a document. Each window lies between at most two of them. */
const MAX_CHANGES = 32

/** Returns a stored anchor; `undefined` if it is invalid. */
export function fitAnchor(stored: unknown, depth = 0): OwnAnchor | undefined {
  if (!isObject(stored) || depth > MAX_CHANGES) return undefined
  const { was = null, changedAt, ...anchor } = stored
  if (!fits(anchorCheck(), anchor)) return undefined
  if (changedAt === undefined) return anchor
  const before = was === null ? null : fitAnchor(was, depth + 1)
  return isInstant(changedAt) && before !== undefined ? { ...anchor, was: before, changedAt } : undefined
}

/** Returns the policy's windows whose periods differ by subject. */
export function ownPeriodWindows({ windows }: Pick<Policy, 'windows'>): readonly CalendarWindow[] {
  return windows.flatMap((window) => (window.every !== undefined && window.anchor === 'subject' ? [window] : []))
}

/** Determines an anchor's periods: the calendar, and the windows that use it. */
export interface AnchorContext {
  readonly windows: readonly CalendarWindow[]
  readonly calendar: Calendar | undefined
  /** Epoch milliseconds. */
  readonly now: number
}

/**
 * Returns the anchor to store when one is set.
 *
 * A subject's first anchor applies immediately. A later one applies from the next period. So it is stored with its
 * previous value, for as long as that value still determines the start or end of some period. A removed anchor leaves a
 * mark, an anchor at the calendar's start. Without it, the next anchor would count as a first one, with a new period.
 *
 * @param stored `null`: the subject never had one
 * @param set `null`: the calendar's start
 */
export function changedAnchor(
  stored: OwnAnchor | null,
  set: CalendarAnchor | null,
  terms: AnchorContext,
): OwnAnchor | null {
  if (stored === null) return set
  const isSame = ruleOf(stored) === ruleOf(set)
  const next: OwnAnchor = isSame ? { ...stored, ...set } : { ...set, was: stored, changedAt: terms.now }
  // Without windows that use the anchor, its last change is kept for processes that have such windows.
  const isUsed = terms.windows.length > 0
  const shortest = isUsed ? withoutNeedless(next, terms) : withLastChange(next)
  const isRemoved = Object.keys(shortest).length === 0
  return isRemoved ? { was: null, changedAt: next.changedAt ?? terms.now } : shortest
}

/** Identifies when periods start, without earlier changes. */
function ruleOf(anchor: CalendarAnchor | null): string {
  const { month = 1, day = 1, time = '00:00' } = anchor ?? {}
  return `${month}-${day} ${time}`
}

function plainOf({ was: _, changedAt: __, ...anchor }: OwnAnchor): CalendarAnchor {
  return anchor
}

function withLastChange(anchor: OwnAnchor): OwnAnchor {
  return anchor.changedAt === undefined ? anchor : { ...anchor, was: anchor.was ? plainOf(anchor.was) : null }
}

/** Removes changes that no longer affect any window's periods. */
function withoutNeedless(anchor: OwnAnchor, terms: AnchorContext): OwnAnchor {
  for (const shorter of shorterOnes(anchor)) if (areSame(shorter, anchor, terms)) return withoutNeedless(shorter, terms)
  return anchor
}

/** Returns the anchor without one of its changes, for each change. */
function shorterOnes(anchor: OwnAnchor): OwnAnchor[] {
  const { was = null, changedAt } = anchor
  if (changedAt === undefined) return []
  const skipped = was?.changedAt === undefined ? [] : [{ ...anchor, was: was.was ?? null }]
  const deeper = was === null ? [] : shorterOnes(was).map((before) => ({ ...anchor, was: before }))
  return [plainOf(anchor), ...skipped, ...deeper]
}

/**
 * Whether two anchors have the same periods from now on. Later periods follow from the current one and the newest
 * anchor.
 */
function areSame(one: OwnAnchor, other: OwnAnchor, { windows, calendar, now }: AnchorContext): boolean {
  const periods = (anchor: OwnAnchor): string =>
    JSON.stringify(windows.map((window) => calendar?.periods(window, now, anchor)))
  return periods(one) === periods(other)
}
