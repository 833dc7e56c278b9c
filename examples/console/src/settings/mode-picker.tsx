import type { JSX } from 'preact'
import type { Mode } from '../api/api.ts'
import { useFormats, useWords } from '../words/words.ts'
import type { Category } from './axes.ts'
import { effectiveLimit, limitText, MODES } from './limits.ts'
import type { PartProps } from './part-props.ts'

/** The five modes, each with what it means for a user in an hour. */
export function ModePicker({ editor, factor }: PartProps): JSX.Element {
  const words = useWords()
  const formats = useFormats()
  const { draft, stored } = editor
  const hour = (mode: Mode, category: Category): string =>
    limitText(effectiveLimit(draft, { layer: 'personal', category, window: '1h' }, mode, factor), formats)
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
          <span class="small">{words.settings.inNumbers(hour(mode, 'read'), hour(mode, 'write'))}</span>
        </label>
      ))}
    </fieldset>
  )
}
