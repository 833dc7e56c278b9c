import type { JSX } from 'preact'
import { useWords } from '../words/words.ts'
import { changedPaths, type Fields } from './form.ts'

/** One field of a change, in words. */
export interface Change {
  readonly path: string
  readonly name: string
  /** `undefined` if there was nothing. */
  readonly before: string | undefined
  readonly after: string
  /** A consequence that needs a confirmation, such as `blocks everybody`. */
  readonly warning?: string | undefined
}

/** The fields of a kind of document, in words. */
export interface FieldTexts {
  nameOf(path: string): string
  textOf(path: string, text: string): string
}

/** What changes from one version of a form to another. */
export function changesOf(before: Fields, after: Fields, { nameOf, textOf }: FieldTexts): Change[] {
  return changedPaths(before, after).map((path) => ({
    path,
    name: nameOf(path),
    before: textOf(path, before[path] ?? ''),
    after: textOf(path, after[path] ?? ''),
  }))
}

export function ChangeList({ id, changes }: { id?: string; changes: readonly Change[] }): JSX.Element {
  const { colon } = useWords()
  return (
    <ul id={id} class="changes">
      {changes.map(({ path, name, before, after, warning }) => (
        <li key={path}>
          {name}
          {colon}
          {before !== undefined && (
            <>
              <del>{before}</del> →{' '}
            </>
          )}
          <ins>{after}</ins>
          {warning !== undefined && (
            <strong class="fault">
              {colon}
              {warning}
            </strong>
          )}
        </li>
      ))}
    </ul>
  )
}
