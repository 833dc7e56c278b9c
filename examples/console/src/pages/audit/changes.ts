/** A changed member. `undefined` if it was absent. */
export interface Change {
  readonly path: string
  readonly before: string | undefined
  readonly after: string | undefined
}

/** Absent and empty are equal. */
const NOTHING = 'null'

type Document = Readonly<Record<string, unknown>> | null

export function changesBetween(before: Document, after: Document): Change[] {
  const [old, now] = [flat(before), flat(after)]
  const paths = [...new Set([...old.keys(), ...now.keys()])]
  return paths
    .map((path) => ({ path, before: old.get(path), after: now.get(path) }))
    .filter((each) => each.before !== each.after && !(each.before === undefined && each.after === NOTHING))
}

function flat(document: Document): Map<string, string> {
  const leaves = new Map<string, string>()
  const walk = (value: unknown, path: string): void => {
    if (typeof value !== 'object' || value === null) {
      leaves.set(path, typeof value === 'string' ? value : JSON.stringify(value))
      return
    }
    for (const [name, member] of Object.entries(value)) walk(member, path === '' ? name : `${path}.${name}`)
  }
  if (document !== null) walk(document, '')
  return leaves
}
