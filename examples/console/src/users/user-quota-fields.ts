import type { UserQuota } from '../api/api.ts'
import { CATEGORIES, type Category, WINDOWS } from '../settings/axes.ts'
import { type FaultCode, type Fields, type Read, tokensOf } from '../settings/fields.ts'

const PATHS = CATEGORIES.flatMap((category) => WINDOWS.map((window) => `overrides.${category}.${window}`))

/** A user's limits as a form has them: an empty text follows the default. */
export function userQuotaFields({ overrides, bypassSite }: UserQuota): Fields {
  const set = CATEGORIES.flatMap((category) =>
    WINDOWS.map((window) => {
      const tokens = overrides[category][window]
      return [`overrides.${category}.${window}`, tokens === null ? '' : String(tokens)] as const
    }),
  )
  return { ...Object.fromEntries(set), bypassSite: String(bypassSite) }
}

export function readUserQuota(fields: Fields): Read<UserQuota> {
  const faults: Record<string, FaultCode> = {}
  for (const path of PATHS) {
    const text = fields[path] ?? ''
    if (text !== '' && tokensOf(text) === undefined) faults[path] = 'override'
  }
  if (Object.keys(faults).length > 0) return { body: undefined, faults }
  const windows = (category: Category): UserQuota['overrides']['read'] => {
    const at = (window: (typeof WINDOWS)[number]): number | null =>
      tokensOf(fields[`overrides.${category}.${window}`] ?? '') ?? null
    return { '1h': at('1h'), '5h': at('5h'), '1d': at('1d') }
  }
  const overrides = { read: windows('read'), write: windows('write') }
  return { body: { overrides, bypassSite: fields.bypassSite === 'true' }, faults }
}
