import type { JSX } from 'preact'
import { effectiveLimit, limitText } from '../../form/effective-limit.ts'
import { CATEGORIES, MODES, type Mode } from '../../limits.ts'
import { useNames } from '../../words/names.ts'
import { useFormats, useWords } from '../../words/words.ts'
import type { PartProps } from './limits-table.tsx'

/** The modes, each with its limits for a user in an hour. */
export function ModePicker({ editor, factor }: PartProps): JSX.Element {
  const words = useWords()
  const formats = useFormats()
  const names = useNames()
  const { draft, stored } = editor
  const example = (mode: Mode): string => {
    const limits = CATEGORIES.map((category) => ({
      category: names.category(category),
      limit: effectiveLimit(draft, { layer: 'personal', category, window: '1h' }, mode, factor),
    }))
    if (limits.every(({ limit }) => limit.kind === 'unknown')) return words.settings.noValues
    return words.settings.inNumbers(
      names.window('1h'),
      limits.map(({ category, limit }) => [category, limitText(limit, formats)]),
    )
  }
  return (
    <fieldset class="modes">
      <legend>{words.settings.mode}</legend>
      {MODES.map((mode) => (
        <label key={mode} class={draft.mode === mode ? 'mode chosen' : 'mode'}>
          <input
            type="radio"
            name="mode"
            value={mode}
            checked={draft.mode === mode}
            onChange={() => editor.set('mode', mode)}
          />
          <span class="mode-name">
            {words.modes[mode]} {stored?.fields.mode === mode && <span class="tag">{words.settings.inForce}</span>}
          </span>
          <span class="quiet small">{words.settings.modeAbout[mode]}</span>
          <span class="small">{example(mode)}</span>
        </label>
      ))}
    </fieldset>
  )
}
