import { type Fields, isSameText } from './form.ts'

/** A field whose three versions differ. */
export interface Difference {
  readonly path: string
  /** When editing began. */
  readonly was: string
  /** Stored now. */
  readonly theirs: string
  readonly mine: string
}

export type Choice = 'theirs' | 'mine'

/** The fields that either side changed, unless both made the same change. */
export function differences(was: Fields, theirs: Fields, mine: Fields): Difference[] {
  return pathsOf(was, theirs, mine)
    .map((path) => ({ path, was: was[path] ?? '', theirs: theirs[path] ?? '', mine: mine[path] ?? '' }))
    .filter(({ path, theirs, mine }) => !isSameText(path, theirs, mine))
}

/** The side that changed the field. `undefined` if both did: a person has to choose. */
export function obviousChoice({ path, was, theirs, mine }: Difference): Choice | undefined {
  if (isSameText(path, mine, was)) return 'theirs'
  return isSameText(path, theirs, was) ? 'mine' : undefined
}

/** Their version, with the chosen fields of mine. */
export function merged(
  theirs: Fields,
  found: readonly Difference[],
  choices: Readonly<Record<string, Choice>>,
): Fields {
  const chosen = found.flatMap(({ path, mine }) => (choices[path] === 'mine' ? [[path, mine] as const] : []))
  return { ...theirs, ...Object.fromEntries(chosen) }
}

/** The paths in which a form differs from the stored document. */
export function changedPaths(stored: Fields, draft: Fields): string[] {
  return pathsOf(stored, draft).filter((path) => !isSameText(path, stored[path] ?? '', draft[path] ?? ''))
}

/** The paths in any of these versions. Plans may have been added or removed. */
function pathsOf(...versions: readonly Fields[]): string[] {
  return [...new Set(versions.flatMap((fields) => Object.keys(fields)))]
}
