import type { JSX } from 'preact'
import { effectiveLimit, isBlocking, limitText } from '../../form/effective-limit.ts'
import type { Fields } from '../../form/form.ts'
import type { Editor } from '../../form/use-editor.ts'
import { CELLS, type Cell, pathOf } from '../../limits.ts'
import { Confirm } from '../../ui/confirm.tsx'
import { useNames } from '../../words/names.ts'
import { useFormats, useWords } from '../../words/words.ts'
import { modeOf, settingName, settingValue } from './setting-name.ts'

interface ChangesProps {
  readonly editor: Editor
  /** The adaptive factor now. */
  readonly factor: number
  onClose(): void
}

/** Lists every change before it's saved for everyone, and the limits that would refuse every request. */
export function ChangesDialog({ editor, factor, onClose }: ChangesProps): JSX.Element {
  const words = useWords()
  const names = useNames()
  const formats = useFormats()
  const { draft, changed } = editor
  const stored = editor.stored?.fields ?? {}
  const limitIn = (fields: Fields, cell: Cell): ReturnType<typeof effectiveLimit> =>
    effectiveLimit(fields, cell, modeOf(fields.mode ?? ''), factor)
  const blocking = CELLS.filter((cell) => isBlocking(limitIn(draft, cell)) && !isBlocking(limitIn(stored, cell)))
  const table = draft.mode === 'custom' ? 'custom' : 'base'
  const changes = changed.map((path) => ({
    name: settingName(words, names, path),
    before: settingValue(words, path, stored[path] ?? ''),
    after: settingValue(words, path, draft[path] ?? ''),
    isBlocking: blocking.some((cell) => pathOf(table, cell) === path),
  }))
  // Another mode or a switch may block as well.
  const others = blocking
    .filter((cell) => !changed.includes(pathOf(table, cell)))
    .map((cell) => ({
      name: names.cell(cell.layer, cell.category, cell.window),
      before: limitText(limitIn(stored, cell), formats),
      after: limitText(limitIn(draft, cell), formats),
      isBlocking: true,
    }))
  const { title, about, blocks } = words.settings.question
  return (
    <Confirm
      title={title}
      about={about}
      yes={words.save}
      isHarmless={blocking.length === 0}
      act={() => void editor.save()}
      onClose={onClose}
    >
      <ul class="changes">
        {[...changes, ...others].map(({ name, before, after, isBlocking }) => (
          <li key={name}>
            {name}
            {words.colon}
            <del>{before}</del> → <ins>{after}</ins>
            {isBlocking && (
              <strong class="fault">
                {words.colon}
                {blocks}
              </strong>
            )}
          </li>
        ))}
      </ul>
    </Confirm>
  )
}
