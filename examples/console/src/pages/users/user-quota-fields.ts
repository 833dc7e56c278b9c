import type { Layer, Policy, UserQuota } from '../../api/documents.ts'
import { sharedLayers } from '../../form/axes.ts'
import { type FaultCode, type Fields, type Read, tokensOf } from '../../form/form.ts'

export function overridePath(category: string, window: string): string {
  return `overrides.${category}.${window}`
}

const UNTIL_PATHS = ['until.overrides', 'until.plan'] as const

/** The policy names these members. Each bypasses a shared layer. */
export function bypassPaths(policy: Policy): string[] {
  return sharedLayers(policy).flatMap(({ bypass }) => bypass ?? [])
}

/** One user's limits in a layer as form fields. An empty field means the default. */
export function userQuotaFields(policy: Policy, { limits }: Layer, quota: UserQuota): Fields {
  const { until, plan, anchor } = quota
  const set = policy.categories.flatMap((category) =>
    (limits[category] ?? []).map((label) => {
      const tokens = quota.overrides[category]?.[label] ?? null
      return [overridePath(category, label), tokens === null ? '' : String(tokens)] as const
    }),
  )
  const bypassed = bypassPaths(policy).map((path) => [path, String(quota[path] === true)] as const)
  return Object.fromEntries([
    ...set,
    ...bypassed,
    ['plan', plan ?? ''],
    ['until.overrides', localText(until.overrides)],
    ['until.plan', localText(until.plan)],
    // Not shown, and stored unchanged.
    ['anchor', anchor === null ? '' : JSON.stringify(anchor)],
  ])
}

export function readUserQuota(policy: Policy, { limits }: Layer, fields: Fields): Read<UserQuota> {
  const { categories } = policy
  const textAt = (path: string): string => fields[path] ?? ''
  const paths = categories.flatMap((category) => (limits[category] ?? []).map((label) => overridePath(category, label)))
  const faults: Record<string, FaultCode> = Object.fromEntries([
    ...paths
      .filter((path) => textAt(path) !== '' && tokensOf(textAt(path)) === undefined)
      .map((path) => [path, 'override']),
    ...UNTIL_PATHS.filter((path) => instantOf(textAt(path)) === undefined).map((path) => [path, 'until']),
  ])
  if (Object.keys(faults).length > 0) return { body: undefined, faults }
  const overridesOf = (category: string): Record<string, number | null> =>
    Object.fromEntries(
      (limits[category] ?? []).map((label) => [label, tokensOf(textAt(overridePath(category, label))) ?? null]),
    )
  const bypassed = bypassPaths(policy).map((path) => [path, textAt(path) === 'true'])
  const body: UserQuota = {
    ...Object.fromEntries(bypassed),
    overrides: Object.fromEntries(categories.map((category) => [category, overridesOf(category)])),
    plan: textAt('plan') === '' ? null : textAt('plan'),
    until: {
      overrides: instantOf(textAt('until.overrides')) ?? null,
      plan: instantOf(textAt('until.plan')) ?? null,
    },
    anchor: textAt('anchor') === '' ? null : JSON.parse(textAt('anchor')),
  }
  return { body, faults }
}

/** Formats an instant for a local time field. It keeps milliseconds, so an untouched value is stored unchanged. */
function localText(iso: string | null): string {
  if (iso === null) return ''
  const at = new Date(iso)
  const local = new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, -1)
  return local.replace(/(?::00)?\.000$/, '')
}

/** @returns `null` for an empty text, `undefined` for an invalid one */
function instantOf(text: string): string | null | undefined {
  if (text === '') return null
  const at = new Date(text)
  return at.getTime() >= 0 ? at.toISOString() : undefined
}
