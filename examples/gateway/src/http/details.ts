import type * as z from 'zod'
import type { Detail } from './http-error.ts'

/** One detail an issue; unknown keys one by one. */
export function detailsOf(issue: z.core.$ZodIssue): Detail[] {
  const path = issue.path.map(String).join('.')
  if (issue.code !== 'unrecognized_keys') return [{ path, msg: issue.message }]
  return issue.keys.map((key) => ({ path: path === '' ? key : `${path}.${key}`, msg: 'unknown key' }))
}
