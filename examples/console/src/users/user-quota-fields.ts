import type { Policy, UserQuota } from '../api/documents.ts'
import { sharedLayers } from '../settings/axes.ts'
import { type FaultCode, type Fields, type Read, tokensOf } from '../settings/fields.ts'

/** Where a user's document has a limit. */
export function overridePath(category: string, window: string): string {
  return `overrides.${category}.${window}`
}

/** The members by which shared layers are bypassed. */
export function bypassPaths(policy: Policy): string[] {
  return sharedLayers(policy).flatMap(({ bypass }) => bypass ?? [])
}

/** A user's limits as a form has them: an empty text follows the default. */
export function userQuotaFields(policy: Policy, quota: UserQuota): Fields {
  const set = policy.categories.flatMap((category) =>
    policy.windows.map(({ label }) => {
      const tokens = quota.overrides[category]?.[label] ?? null
      return [overridePath(category, label), tokens === null ? '' : String(tokens)] as const
    }),
  )
  const bypassed = bypassPaths(policy).map((path) => [path, String(quota[path] === true)] as const)
  return Object.fromEntries([...set, ...bypassed])
}

export function readUserQuota(policy: Policy, fields: Fields): Read<UserQuota> {
  const { categories, windows } = policy
  const textAt = (category: string, window: string): string => fields[overridePath(category, window)] ?? ''
  const faults: Record<string, FaultCode> = {}
  for (const category of categories) {
    for (const { label } of windows) {
      const text = textAt(category, label)
      if (text !== '' && tokensOf(text) === undefined) faults[overridePath(category, label)] = 'override'
    }
  }
  if (Object.keys(faults).length > 0) return { body: undefined, faults }
  const overridesOf = (category: string): Record<string, number | null> =>
    Object.fromEntries(windows.map(({ label }) => [label, tokensOf(textAt(category, label)) ?? null]))
  const bypassed = bypassPaths(policy).map((path) => [path, fields[path] === 'true'])
  const overrides = Object.fromEntries(categories.map((category) => [category, overridesOf(category)]))
  return { body: { ...Object.fromEntries(bypassed), overrides }, faults }
}
