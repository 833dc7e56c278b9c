import type { Change } from '../../form/changes.tsx'
import { effectiveLimit, isBlocking, limitText } from '../../form/effective-limit.ts'
import type { Fields } from '../../form/form.ts'
import type { Editor } from '../../form/use-editor.ts'
import { CELLS, type Cell, pathOf } from '../../limits.ts'
import { useNames } from '../../words/names.ts'
import { useFormats, useWords } from '../../words/words.ts'
import { modeOf } from './setting-texts.ts'

/**
 * Warns of limits that would refuse every request.
 *
 * @param factor the adaptive factor now
 */
export function useBlocking({ draft, stored }: Editor, factor: number): (changes: readonly Change[]) => Change[] {
  const words = useWords()
  const names = useNames()
  const formats = useFormats()
  const before = stored?.fields ?? {}
  const limitIn = (fields: Fields, cell: Cell): ReturnType<typeof effectiveLimit> =>
    effectiveLimit(fields, cell, modeOf(fields.mode ?? ''), factor)
  const blocking = CELLS.filter((cell) => isBlocking(limitIn(draft, cell)) && !isBlocking(limitIn(before, cell)))
  const table = draft.mode === 'custom' ? 'custom' : 'base'
  const warning = words.settings.blocks
  return (changes) => {
    const changed = new Set(changes.map(({ path }) => path))
    // Another mode or a switch may block as well.
    const others = blocking
      .filter((cell) => !changed.has(pathOf(table, cell)))
      .map((cell) => ({
        path: `limit ${pathOf(table, cell)}`,
        name: names.cell(cell.layer, cell.category, cell.window),
        before: limitText(limitIn(before, cell), formats),
        after: limitText(limitIn(draft, cell), formats),
        warning,
      }))
    const paths = new Set(blocking.map((cell) => pathOf(table, cell)))
    return [...changes.map((change) => (paths.has(change.path) ? { ...change, warning } : change)), ...others]
  }
}
