/** What JSON writes in another way than a literal of PostgreSQL: all but a quote and a backslash. */
const OTHERWISE = /\\[^"\\]/

/**
 * A list as a literal of PostgreSQL's, which JSON's is but for its brackets and control characters: Node's own writer is
 * several times as fast as a driver's, which looks at each character. Lists with control characters are left to that.
 */
export function arrayOf(list: readonly (string | number | null)[]): unknown {
  const text = JSON.stringify(list)
  return OTHERWISE.test(text) ? list : `{${text.slice(1, -1)}}`
}
