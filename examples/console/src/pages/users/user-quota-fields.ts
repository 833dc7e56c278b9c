import { type Faults, type Fields, type Read, tokensOf } from '../../form/form.ts'
import { CATEGORIES, type Category, type UserQuota, WINDOWS, type Window } from '../../limits.ts'

export const BYPASS = 'bypassSite'

export function overridePath(category: Category, window: Window): string {
  return `overrides.${category}.${window}`
}

const OVERRIDES = CATEGORIES.flatMap((category) => WINDOWS.map((window) => ({ category, window })))

/** The fields of a user without limits of their own. */
export const NO_OVERRIDES: Fields = Object.fromEntries([
  ...OVERRIDES.map(({ category, window }) => [overridePath(category, window), '']),
  [BYPASS, 'false'],
])

/** One user's limits as form fields. An empty field means the default. */
export function userQuotaFields({ overrides, bypassSite }: UserQuota): Fields {
  return Object.fromEntries([
    ...OVERRIDES.map(({ category, window }) => [
      overridePath(category, window),
      String(overrides[category][window] ?? ''),
    ]),
    [BYPASS, String(bypassSite)],
  ])
}

export function readUserQuota(fields: Fields): Read<UserQuota> {
  const at = (category: Category, window: Window): string => fields[overridePath(category, window)] ?? ''
  const faulty = OVERRIDES.filter(({ category, window }) => {
    const text = at(category, window)
    return text !== '' && tokensOf(text) === undefined
  })
  const faults: Faults = Object.fromEntries(
    faulty.map(({ category, window }) => [overridePath(category, window), 'override']),
  )
  if (faulty.length > 0) return { body: undefined, faults }
  const windows = (category: Category): UserQuota['overrides'][Category] => {
    const tokens = (window: Window): number | null => tokensOf(at(category, window)) ?? null
    return { '1h': tokens('1h'), '5h': tokens('5h'), '1d': tokens('1d') }
  }
  const body: UserQuota = {
    overrides: { read: windows('read'), write: windows('write') },
    bypassSite: fields[BYPASS] === 'true',
  }
  return { body, faults }
}
