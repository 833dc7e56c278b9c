import type { JSX } from 'preact'
import type { Mode } from '../../api/documents.ts'
import { ownLayers } from '../../form/axes.ts'
import { usePolicy } from '../../session.ts'
import { useNames } from '../../words/names.ts'
import { useFormats, useWords } from '../../words/words.ts'
import { effectiveLimit, limitText, MODES } from './limits.ts'
import type { PartProps } from './limits-table.tsx'

/** The modes, each with its limits for a user in the first window. */
export function ModePicker({ editor, factor }: PartProps): JSX.Element {
  const words = useWords()
  const formats = useFormats()
  const { draft, stored } = editor
  const names = useNames()
  const policy = usePolicy()
  const [layer, window] = [ownLayers(policy)[0]?.name ?? '', policy.windows[0]?.label ?? '']
  const isSlots = false
  const example = (mode: Mode): string => {
    const limits = policy.categories.map((category) => ({
      category: names.category(category),
      limit: effectiveLimit(draft, { layer, category, window, isSlots }, mode, factor),
    }))
    if (limits.every(({ limit }) => limit.kind === 'unknown')) return words.settings.noValues
    return words.settings.inNumbers(
      names.window(window),
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
