import type { JSX } from 'preact'
import { useId } from 'preact/hooks'
import type { Editor } from '../../form/use-editor.ts'
import { Field } from '../../ui/field.tsx'
import { Switch } from '../../ui/switch.tsx'
import { useNames } from '../../words/names.ts'
import { useWords } from '../../words/words.ts'

/** Whether a layer that everybody shares applies, and its multiplier. */
export function SharedLayer({ editor, layer }: { editor: Editor; layer: string }): JSX.Element {
  const { settings } = useWords()
  const id = useId()
  const name = useNames().layer(layer)
  const [enabled, multiplier] = [`${layer}.enabled`, `${layer}.multiplier`]
  const fault = editor.faults[multiplier]
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>{settings.sharedLayer(name)}</h2>
      <Switch
        label={settings.enabled(name)}
        isOn={editor.draft[enabled] === 'true'}
        onChange={(isOn) => editor.set(enabled, String(isOn))}
      />
      <p class="quiet small">{settings.enabledAbout}</p>
      <Field
        label={settings.multiplier(name)}
        about={settings.multiplierAbout}
        fault={fault === undefined ? undefined : settings.faults[fault]}
      >
        {(props) => (
          <input
            {...props}
            class={editor.changed.includes(multiplier) ? 'number changed' : 'number'}
            inputMode="decimal"
            autocomplete="off"
            value={editor.draft[multiplier]}
            onInput={(event) => editor.set(multiplier, event.currentTarget.value)}
          />
        )}
      </Field>
    </section>
  )
}
