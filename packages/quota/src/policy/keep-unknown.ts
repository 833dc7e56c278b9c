import { isObject } from '../options/objects.ts'
import { hasLimit, limitLabels } from './cells.ts'
import { isSharedLayer } from './fit-subject.ts'
import { wrongPlan } from './names.ts'
import type { Policy } from './policy.ts'
import { MODES, type Mode, type Settings, type SubjectSettings } from './settings.ts'
import { member, membersOf } from './stored.ts'

/**
 * A document to be stored: `next` whole, and whatever the stored one has under names that the policy does not know, so
 * that a process with an older or newer policy finds its values again. So does one that can follow a mode which this one
 * cannot: unless the change names another.
 *
 * @param change what the administrator wrote
 */
export function keepUnknown(policy: Policy, stored: unknown, next: Settings, change: object): object {
  const mode = member(stored, 'mode')
  const isKept = MODES.includes(mode as Mode) && !Object.hasOwn(change, 'mode')
  const { prices, shadow, plans, thresholds: _, ...rest } = isObject(stored) ? stored : {}
  const settings = isKept ? { ...next, mode } : next
  const isUnknownPrice = ([operation]: readonly [string, unknown]): boolean =>
    !Object.hasOwn(policy.operations, operation)
  const unknown = {
    prices: Object.fromEntries(membersOf(prices).filter(isUnknownPrice)),
    shadow: unknownShadow(policy, shadow),
    plans: unknownPlans(policy, plans, next.plans),
  }
  const merged = overlay({ ...rest, ...unknown }, settings) as Settings
  return { ...merged, shadow: joined(unknown.shadow, next.shadow) }
}

/** As {@link keepUnknown}, for one subject's document. */
export function keepUnknownOfSubject(policy: Policy, stored: unknown, next: SubjectSettings): object {
  const bypass = member(stored, 'bypass')
  const unknown = Array.isArray(bypass) ? bypass.filter((name) => !isSharedLayer(policy, name)) : []
  const merged = overlay(stored, next) as object
  // An anchor is one value: nothing of another shines through.
  return { ...merged, anchor: next.anchor, bypass: [...next.bypass, ...unknown] }
}

/** What is shadowed by names that the policy does not know: all of an unknown layer, unknown labels of a known one. */
function unknownShadow(policy: Policy, shadow: unknown): Readonly<Record<string, unknown>> {
  const known = limitLabels(policy)
  const kept = membersOf(shadow).flatMap(([layer, limits]): [string, unknown][] => {
    if (!policy.layers.some(({ name }) => name === layer)) return [[layer, limits]]
    const labels = Array.isArray(limits) ? limits.filter((label) => !known.includes(label)) : []
    return labels.length === 0 ? [] : [[layer, labels]]
  })
  return Object.fromEntries(kept)
}

/** Labels that are unknown beside those that are known; `all` is all of both. */
function joined(unknown: Readonly<Record<string, unknown>>, known: Settings['shadow']): object {
  const merged = new Map<string, unknown>(Object.entries(unknown))
  for (const [layer, limits] of Object.entries(known)) {
    const kept = merged.get(layer)
    merged.set(layer, Array.isArray(limits) && Array.isArray(kept) ? [...limits, ...kept] : limits)
  }
  return Object.fromEntries(merged)
}

/** What the plans that are still there have under names that the policy does not know. */
function unknownPlans(policy: Policy, plans: unknown, next: Settings['plans']): object {
  const isOwn = (layer: string): boolean => policy.layers.some(({ name, shared }) => !shared && name === layer)
  const limitsOf = (table: unknown): object =>
    unknownMembers(table, isOwn, (ofLayer, layer) =>
      unknownMembers(
        ofLayer,
        (category) => policy.categories.includes(category),
        (ofCategory, category) =>
          unknownMembers(ofCategory, (label) => hasLimit(policy, layer, category, label), nothingUnknown),
      ),
    )
  // A plan whose name this version does not take was not removed by whoever did not see it.
  const isThere = (plan: string): boolean => Object.hasOwn(next, plan) || wrongPlan(plan) !== undefined
  const there = membersOf(plans).filter(([plan]) => isThere(plan))
  return Object.fromEntries(
    there.map(([plan, table]) => [plan, wrongPlan(plan) === undefined ? limitsOf(table) : table]),
  )
}

/** Members under unknown names, and what is unknown in those under known ones. */
function unknownMembers(
  value: unknown,
  isKnown: (key: string) => boolean,
  inKnown: (value: unknown, key: string) => object | undefined,
): object {
  const kept = membersOf(value).flatMap(([key, each]): [string, unknown][] => {
    if (!isKnown(key)) return [[key, each]]
    const unknown = inKnown(each, key)
    return unknown === undefined || Object.keys(unknown).length === 0 ? [] : [[key, unknown]]
  })
  return Object.fromEntries(kept)
}

function nothingUnknown(): undefined {
  return undefined
}

/** Members that only `below` has, under everything that `above` has. */
function overlay(below: unknown, above: unknown): unknown {
  if (!isObject(below) || !isObject(above)) return above
  const merged = new Map(Object.entries(below))
  for (const [key, value] of Object.entries(above)) merged.set(key, overlay(merged.get(key), value))
  return Object.fromEntries(merged)
}
