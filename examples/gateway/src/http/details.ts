import type * as z from 'zod'
import type { Detail } from './http-error.ts'

/** Most unknown keys of one object that are named. */
const MAX_UNKNOWN = 5

/** One detail an issue; unknown keys one by one, but never thousands of them. */
export function detailsOf(issue: z.core.$ZodIssue): Detail[] {
  const path = issue.path.map(String).join('.')
  if (issue.code !== 'unrecognized_keys') return [{ path, msg: issue.message }]
  const { keys } = issue
  const named = keys
    .slice(0, MAX_UNKNOWN)
    .map((key) => ({ path: path === '' ? key : `${path}.${key}`, msg: 'unknown key' }))
  return keys.length <= MAX_UNKNOWN
    ? named
    : [...named, { path, msg: `${keys.length - MAX_UNKNOWN} more unknown keys` }]
}
