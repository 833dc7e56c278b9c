import { isObject } from '../options/checks.ts'
import { fits } from '../options/faults.ts'
import type { CellSchema } from '../windows/identity.ts'
import { type Burst, burstUnder } from '../windows/kinds/bucket.ts'
import {
  anchorCheck,
  type Calendar,
  type CalendarAnchor,
  type CalendarWindow,
  type OwnAnchor,
} from '../windows/kinds/calendar.ts'
import { KINDS } from '../windows/kinds.ts'
import { hasLimit } from './cells.ts'
import type { Limit, LimitTable, PlanTable, Policy } from './policy.ts'
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

/** What decides a request: the layers that apply, and the effective limit of each of their windows. */
export interface Quotas {
  /** Indices of the layers that apply, in the policy's order. */
  readonly layers: readonly number[]
  /**
   * The limits that decide, in tokens: the cells of each applying layer, in the order of a row (windows, then slots).
   * `Infinity`: unlimited, shadowed, or absent in the layer and category. For a bucket: its burst.
   */
  readonly limits: readonly number[]
  /**
   * How many tokens each bucket refills in its length, in the places of {@link limits}. A shadowed bucket has a rate
   * too. 0: it doesn't refill, as for unlimited buckets and other kinds. `undefined`: the policy has no bucket.
   */
  readonly rates?: readonly number[] | undefined
  /** The policy limits the category's concurrency, but no layer that applies does, so work takes no slot. */
  readonly isSlotless?: true | undefined
  /** The shadowed limits, in the places of {@link limits}; `undefined` for all others. Absent if none is shadowed. */
  readonly shadowed?: readonly (number | undefined)[] | undefined
  /**
   * When the subject's own periods begin, for each of {@link layers}; `null`: with the calendar's. Present if the
   * policy has windows with `anchor: 'subject'` and the subject has an anchor in some layer.
   */
  readonly anchors?: readonly (OwnAnchor | null)[] | undefined
}

/**
 * `floor(base x mode x multiplier)` in exact integers. Both factors are in hundredths. A base above 0 never becomes 0.
 */
export function scaledLimit(base: Limit, modeHundredths: number, multiplierHundredths: number): number {
  if (base === 'unlimited') return Number.POSITIVE_INFINITY
  if (base === 0) return 0
  return Math.max(1, Math.floor((base * modeHundredths * multiplierHundredths) / 10_000))
}

/** What all subjects' limits are computed from. */
export interface LimitInputs {
  readonly policy: Policy
  /** The policy's cells, in the order of a row. */
  readonly cells: readonly CellSchema[]
  readonly settings: Settings
  /** The factor of mode `adaptive`, in hundredths: 75 to 150. */
  readonly factorHundredths: number
}

/** The subject whose limits are computed. */
export interface LimitsOf {
  /** The subject's settings in force, by layer name. Layers without settings are absent. */
  readonly subjects?: Readonly<Record<string, SubjectSettings>> | undefined
  /** The plan in the request. */
  readonly plan?: string | undefined
}

/**
 * The quotas of one subject, one entry a category in the policy's order.
 *
 * Limit of a layer of its own: the override if set; else `floor(value x mode)` with the value of the plan, or the base's.
 * The plan is that of the subject's settings in the layer, else that of the request; one that nobody knows has no values.
 * Limit of a shared layer: `floor(base x mode x multiplier)`, if the layer is on and the subject does not bypass it.
 * In mode `custom` its table is the base, and it and plans are taken as they are. Concurrency is never scaled.
 */
export function effectiveQuotas(terms: LimitInputs, of: LimitsOf = {}): readonly Quotas[] {
  const { policy, settings } = terms
  const bypassed = new Set(Object.values(of.subjects ?? {}).flatMap((subject) => subject.bypass))
  const layers = policy.layers.flatMap(({ name, shared }, index) =>
    shared && (!settings.layers[name]!.enabled || bypassed.has(name)) ? [] : [index],
  )
  const table = modeTable(terms)
  const anchors = anchorsOf(terms, layers, of)
  const bursts = terms.cells.map(({ label }) => policy.windows.find((window) => window.label === label)?.burst)
  return policy.categories.map((category) => {
    const effective = layers.flatMap((index) => layerLimits(terms, table, of, index, category))
    const { limits, rates } = withBursts(bursts, effective)
    return {
      layers,
      ...inShadow(terms, layers, category, limits),
      ...(rates !== undefined && { rates }),
      ...(anchors !== undefined && { anchors }),
      ...(isSlotless(policy, layers, category) && { isSlotless: true }),
    }
  })
}

/** Separates the limits of buckets into refill rates and bursts. */
function withBursts(
  bursts: readonly (Burst | undefined)[],
  effective: readonly number[],
): Pick<Quotas, 'limits' | 'rates'> {
  if (bursts.every((burst) => burst === undefined)) return { limits: effective }
  const burstAt = (at: number): Burst | undefined => bursts[at % bursts.length]
  return {
    limits: effective.map((limit, at) => (burstAt(at) === undefined ? limit : burstUnder(limit, burstAt(at)!))),
    rates: effective.map((limit, at) => (burstAt(at) === undefined || limit === Number.POSITIVE_INFINITY ? 0 : limit)),
  }
}

function isSlotless({ concurrency, base, layers }: Policy, applying: readonly number[], category: string): boolean {
  if (concurrency === undefined) return false
  const limiting = layers.flatMap(({ name }, index) =>
    hasLimit({ base }, name, category, concurrency.label) ? [index] : [],
  )
  return limiting.length > 0 && !limiting.some((index) => applying.includes(index))
}

/** When a subject's own periods begin, per layer that applies; `undefined` if none of its periods is its own. */
function anchorsOf({ policy }: LimitInputs, layers: readonly number[], { subjects }: LimitsOf): Quotas['anchors'] {
  if (ownPeriodWindows(policy).length === 0) return undefined
  const anchors = layers.map((index) => ownOf(subjects, policy.layers[index]!.name)?.anchor ?? null)
  return anchors.every((anchor) => anchor === null) ? undefined : anchors
}

function layerLimits(
  { policy, cells, settings }: LimitInputs,
  { table, hundredths: mode }: ModeTable,
  { subjects, plan: requested }: LimitsOf,
  layerIndex: number,
  category: string,
): number[] {
  const { name, shared } = policy.layers[layerIndex]!
  const multiplier = shared ? hundredths(settings.layers[name]!.multiplier)! : 100
  const subject = ownOf(subjects, name)
  const overrides = ownOf(subject?.overrides, category)
  const plan = shared ? undefined : (subject?.plan ?? requested)
  return cells.map(({ kind, label }) => {
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
  { policy, cells, settings }: LimitInputs,
  layers: readonly number[],
  category: string,
  effective: readonly number[],
): Omit<Quotas, 'layers'> {
  if (Object.keys(settings.shadow).length === 0) return { limits: effective }
  const shadowed = effective.map((limit, index) => {
    const { name } = policy.layers[layers[Math.floor(index / cells.length)]!]!
    const { label } = cells[index % cells.length]!
    const inShade = ownOf(settings.shadow, name)
    const isShadowed = inShade === 'all' || inShade?.includes(label) === true
    return isShadowed && hasLimit(policy, name, category, label) ? limit : undefined
  })
  if (shadowed.every((limit) => limit === undefined)) return { limits: effective }
  const limits = effective.map((limit, index) => (shadowed[index] === undefined ? limit : Number.POSITIVE_INFINITY))
  return { limits, shadowed }
}

/** The table that a mode reads, and its factor in hundredths. */
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

/** How many changes of an anchor a document keeps: each window lies between two of them at most. */
const MAX_CHANGES = 32

/** A stored anchor; `undefined` if it isn't one. */
export function fitAnchor(stored: unknown, depth = 0): OwnAnchor | undefined {
  if (!isObject(stored) || depth > MAX_CHANGES) return undefined
  const { was = null, changedAt, ...anchor } = stored
  if (!fits(anchorCheck(), anchor)) return undefined
  if (changedAt === undefined) return anchor
  const before = was === null ? null : fitAnchor(was, depth + 1)
  return isInstant(changedAt) && before !== undefined ? { ...anchor, was: before, changedAt } : undefined
}

/** The windows of a policy whose periods differ per subject. */
export function ownPeriodWindows({ windows }: Pick<Policy, 'windows'>): readonly CalendarWindow[] {
  return windows.flatMap((window) => (window.every !== undefined && window.anchor === 'subject' ? [window] : []))
}

/** What gives an anchor its meaning at an instant: the calendar, and the windows that use it. */
export interface AnchorContext {
  readonly windows: readonly CalendarWindow[]
  readonly calendar: Calendar | undefined
  /** Epoch milliseconds. */
  readonly now: number
}

/**
 * The anchor to store when one is set.
 *
 * A subject's first anchor is in force with the write. A later one counts from the next period, so it is stored with its
 * previous value, as long as that decides where some window's period begins or ends. A removed anchor leaves a mark, an
 * anchor at the calendar's beginning: otherwise each removal would make the next anchor a first one, with a period of its own.
 *
 * @param stored `null`: the subject never had one
 * @param set `null`: at the calendar's beginning
 */
export function changedAnchor(
  stored: OwnAnchor | null,
  set: CalendarAnchor | null,
  terms: AnchorContext,
): OwnAnchor | null {
  if (stored === null) return set
  const isSame = ruleOf(stored) === ruleOf(set)
  const next: OwnAnchor = isSame ? { ...stored, ...set } : { ...set, was: stored, changedAt: terms.now }
  // If no window here uses the anchor, its last change is kept for processes whose windows do.
  const isUsed = terms.windows.length > 0
  const shortest = isUsed ? withoutNeedless(next, terms) : withLastChange(next)
  const isRemoved = Object.keys(shortest).length === 0
  return isRemoved ? { was: null, changedAt: next.changedAt ?? terms.now } : shortest
}

/** When periods begin, regardless of earlier changes. */
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

/** Removes changes without which every window's periods are the same from now on. */
function withoutNeedless(anchor: OwnAnchor, terms: AnchorContext): OwnAnchor {
  for (const shorter of shorterOnes(anchor)) if (areSame(shorter, anchor, terms)) return withoutNeedless(shorter, terms)
  return anchor
}

/** The anchor with one change less, in each possible way. */
function shorterOnes(anchor: OwnAnchor): OwnAnchor[] {
  const { was = null, changedAt } = anchor
  if (changedAt === undefined) return []
  const skipped = was?.changedAt === undefined ? [] : [{ ...anchor, was: was.was ?? null }]
  const deeper = was === null ? [] : shorterOnes(was).map((before) => ({ ...anchor, was: before }))
  return [plainOf(anchor), ...skipped, ...deeper]
}

/** Equal now means equal later: a later period follows from this one and from the newest anchor. */
function areSame(one: OwnAnchor, other: OwnAnchor, { windows, calendar, now }: AnchorContext): boolean {
  const periods = (anchor: OwnAnchor): string =>
    JSON.stringify(windows.map((window) => calendar?.periods(window, now, anchor)))
  return periods(one) === periods(other)
}
