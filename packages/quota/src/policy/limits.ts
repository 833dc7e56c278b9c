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
import { cameBack as flooredShare } from '../windows/row.ts'
import { layerOf, placedLimits } from './cells.ts'
import type { Limit, LimitNumber, LimitNumbers, LimitRule, Policy } from './policy.ts'
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

/** Where a limit's number comes from. */
export type LimitSource = 'subject' | 'request' | 'plan' | 'custom' | 'base'

/** The limits that decide a request: the applying layers, and the effective limits by position. */
export interface Quotas {
  /** Indices of the layers that apply, in the policy's order. */
  readonly layers: readonly number[]
  /**
   * The limits that decide, by position. `Infinity`: unlimited, shadowed, or of a layer that doesn't apply. For a
   * bucket: its burst.
   */
  readonly limits: readonly number[]
  /** Where each limit's number comes from, by position. Stores needn't know it. */
  readonly from?: readonly LimitSource[] | undefined
  /**
   * How many tokens each bucket refills in its length, by position. Shadowed buckets have a rate, too. 0: no refill, as
   * for unlimited buckets and other kinds. `undefined`: the policy has no bucket.
   */
  readonly rates?: readonly number[] | undefined
  /** The sets whose work takes no slot, because no layer that limits its concurrency applies. */
  readonly slotless?: readonly number[] | undefined
  /** The shadowed limits, by position; `undefined` for all others. Absent if none is shadowed. */
  readonly shadowed?: readonly (number | undefined)[] | undefined
  /**
   * When the subject's periods start, by layer; `null`: at the calendar's start. Present if the policy has windows with
   * `anchor: 'subject'` and the subject has an anchor in some layer.
   */
  readonly anchors?: readonly (OwnAnchor | null)[] | undefined
  /** The layers whose settings block the subject. Absent if none does. */
  readonly blocked?: readonly number[] | undefined
  /**
   * The limits after a part of the subject's settings ends, and when it does, in epoch milliseconds. Absent if none
   * ends.
   */
  readonly later?: { readonly from: number; readonly quotas: Quotas } | undefined
}

/**
 * `floor(base x mode x multiplier)` in exact integers. Both factors are in hundredths. A base above 0 never becomes 0.
 */
export function scaledLimit(base: Limit, modeHundredths: number, multiplierHundredths: number): number {
  if (base === 'unlimited') return Number.POSITIVE_INFINITY
  if (base === 0) return 0
  return Math.max(1, flooredShare(base, modeHundredths * multiplierHundredths, 10_000))
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
  /** The numbers of limits in the request. */
  readonly numbers?: LimitNumbers | undefined
  /** The layers in which the subject has no key. */
  readonly absent?: readonly string[] | undefined
}

/**
 * Computes the quotas of a subject.
 *
 * A limit of a layer that isn't shared: the number stored for the subject, else the one in the request, else
 * `floor(value x mode)`. The value is that of the plan, or the base. A stored plan takes precedence over the request's.
 * Unknown plans have no values.
 *
 * A limit of a shared layer: `floor(base x mode x multiplier)`, if the layer is on and the subject doesn't bypass it.
 *
 * In mode `custom`, its numbers are the base, and neither they nor plans are scaled. Concurrency is never scaled.
 */
export function effectiveQuotas(inputs: LimitInputs, of: LimitsOf = {}): Quotas {
  const { policy } = inputs
  const layers = applyingLayers(inputs, of)
  const effective = placedLimits(policy).limits.map(({ rule, layer }) =>
    layers.includes(layer) ? effectiveLimit(inputs, rule, of) : NONE,
  )
  const slotless = slotlessSets(policy, layers)
  const anchors = anchorsOf(policy, of)
  const blocked = policy.layers.flatMap(({ name }, layer) => (ownOf(of.subjects, name)?.blocked ? [layer] : []))
  const hasBuckets = policy.limits.some(({ window }) => window?.burst !== undefined)
  const hasShadowed = effective.some(({ isShadowed }) => isShadowed)
  return {
    layers,
    limits: effective.map(({ burst, isShadowed }) => (isShadowed ? Number.POSITIVE_INFINITY : burst)),
    from: effective.map(({ from }) => from),
    ...(hasBuckets && { rates: effective.map(({ rate }) => rate) }),
    ...(hasShadowed && { shadowed: effective.map(({ burst, isShadowed }) => (isShadowed ? burst : undefined)) }),
    ...(anchors !== undefined && { anchors }),
    ...(slotless.length > 0 && { slotless }),
    ...(blocked.length > 0 && { blocked }),
  }
}

/** The layers in which the subject has a key, that are on, and that it doesn't bypass. */
function applyingLayers({ policy, settings }: LimitInputs, of: LimitsOf): readonly number[] {
  const subjects = Object.values(of.subjects ?? {})
  const isOut = (name: string): boolean =>
    subjects.some(({ bypass }) => ownOf(bypass, name) === true) || of.absent?.includes(name) === true
  return policy.layers.flatMap(({ name, shared }, index) =>
    isOut(name) || (shared && !settings.shared[name]!.enabled) ? [] : [index],
  )
}

/** A limit in force. */
interface EffectiveLimit {
  /** See {@link Quotas.rates}. */
  readonly rate: number
  /** How much may be used at one time: the limit, or a bucket's burst. */
  readonly burst: number
  readonly from: LimitSource
  readonly isShadowed: boolean
}

/** A limit of a layer that doesn't apply. */
const NONE: EffectiveLimit = { rate: 0, burst: Number.POSITIVE_INFINITY, from: 'base', isShadowed: false }

/** Returns the sets with concurrency limits, all of whose layers don't apply. */
function slotlessSets(policy: Policy, applying: readonly number[]): readonly number[] {
  const { schema, limits } = placedLimits(policy)
  return schema.sets.flatMap((set, index) => {
    const slots = limits.filter(({ at, rule }) => rule.window === undefined && set.includes(at))
    return slots.length > 0 && !slots.some(({ layer }) => applying.includes(layer)) ? [index] : []
  })
}

/** Returns when a subject's periods start, by layer; `undefined`: all start with the calendar's. */
function anchorsOf(policy: Policy, { subjects }: LimitsOf): Quotas['anchors'] {
  if (ownPeriodWindows(policy).length === 0) return undefined
  const anchors = policy.layers.map(({ name }) => ownOf(subjects, name)?.anchor ?? null)
  return anchors.every((anchor) => anchor === null) ? undefined : anchors
}

function effectiveLimit(inputs: LimitInputs, rule: LimitRule, of: LimitsOf): EffectiveLimit {
  const { policy, settings, factorHundredths } = inputs
  const { number, from } = numberOf(inputs, rule, of)
  const { shared, name: layer } = layerOf(policy, rule)
  const isScaled = rule.window !== undefined && (from === 'plan' || from === 'base' || from === 'custom')
  const mode = isScaled ? modeHundredths(settings.mode, factorHundredths) : 100
  const multiplier = isScaled && shared ? hundredths(settings.shared[layer]!.multiplier)! : 100
  const limit = scaledLimit(typeof number === 'object' ? number.limit : number, mode, multiplier)
  const burst = burstOf(rule, number)
  const isShadowed = ownOf(settings.shadow, rule.name) ?? rule.shadow
  if (burst === undefined) return { rate: 0, burst: limit, from, isShadowed }
  const rate = limit === Number.POSITIVE_INFINITY ? 0 : limit
  return { rate, burst: burstUnder(limit, burst), from, isShadowed }
}

/** A bucket's burst. A number other than the policy's keeps the share that the burst has of the limit. */
function burstOf({ window, limit }: LimitRule, number: LimitNumber): Burst | undefined {
  const burst = window?.burst
  if (burst === undefined) return undefined
  if (typeof number === 'object') return number.burst
  const isOther = typeof number === 'number' && number !== limit && limit !== 'unlimited' && limit > 0
  return isOther && typeof burst === 'number' ? Math.max(1, flooredShare(number, burst, limit)) : burst
}

interface NumberInForce {
  readonly number: LimitNumber
  readonly from: LimitSource
}

/** The number in force: the subject's, else the request's, else that of the plan, else custom or the base. */
function numberOf(inputs: LimitInputs, rule: LimitRule, of: LimitsOf): NumberInForce {
  const { settings, policy } = inputs
  const own = layerOf(policy, rule).shared ? undefined : ownNumber(inputs, rule, of)
  if (own !== undefined) return own
  const custom = settings.mode === 'custom' ? ownOf(settings.custom ?? undefined, rule.name) : undefined
  if (custom !== undefined) return { number: custom, from: 'custom' }
  return { number: ownOf(settings.limits, rule.name) ?? rule.limit, from: 'base' }
}

/** A number that isn't the same for all subjects. */
function ownNumber({ policy, settings }: LimitInputs, rule: LimitRule, of: LimitsOf): NumberInForce | undefined {
  const subject = ownOf(of.subjects, layerOf(policy, rule).name)
  const stored = ownOf(subject?.limits, rule.name) ?? undefined
  if (stored !== undefined) return { number: stored, from: 'subject' }
  const requested = ownOf(of.numbers, rule.name)
  if (requested !== undefined) return { number: requested, from: 'request' }
  const planned = policy.planOf === undefined ? subject : ownOf(of.subjects, policy.planOf)
  const plan = planned?.plan ?? of.plan
  const number = plan === undefined ? undefined : planLimit({ policy, settings }, plan, rule.name)
  return number === undefined ? undefined : { number, from: 'plan' }
}

function modeHundredths(mode: Mode, factorHundredths: number): number {
  if (mode === 'custom') return 100
  return mode === 'adaptive' ? factorHundredths : MODE_HUNDREDTHS[mode]
}

/** The names of all plans: the policy's, and those that only the settings have. */
export function planNames(policy: Pick<Policy, 'plans'>, settings: Pick<Settings, 'plans'>): readonly string[] {
  return [...new Set([...Object.keys(policy.plans), ...Object.keys(settings.plans)])]
}

/** A plan's limit in the settings, else in the policy; `undefined`: it follows the base. */
export function planLimit(
  { policy, settings }: { readonly policy: Pick<Policy, 'plans'>; readonly settings: Pick<Settings, 'plans'> },
  plan: string,
  name: string,
): LimitNumber | undefined {
  return ownOf(ownOf(settings.plans, plan), name) ?? ownOf(ownOf(policy.plans, plan), name)
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
export function ownPeriodWindows({ limits }: Pick<Policy, 'limits'>): readonly CalendarWindow[] {
  return limits.flatMap(({ window }) => (window?.every !== undefined && window.anchor === 'subject' ? [window] : []))
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
