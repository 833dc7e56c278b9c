import type { JSX } from 'preact'
import type { Editor } from '../../form/use-editor.ts'
import { Field } from '../../ui/field.tsx'
import { useWords } from '../../words/words.ts'
import { THRESHOLDS } from './rule-fields.ts'

/** When limits are near. */
export function Thresholds({ editor }: { editor: Editor }): JSX.Element {
  const { settings } = useWords()
  const fault = editor.faults[THRESHOLDS]
  return (
    <section aria-labelledby="thresholds">
      <h2 id="thresholds">{settings.thresholds}</h2>
      <Field
        label={settings.thresholdsList}
        about={settings.thresholdsAbout}
        fault={fault === undefined ? undefined : settings.faults[fault]}
      >
        {(props) => (
          <input
            {...props}
            class={editor.changed.includes(THRESHOLDS) ? 'changed' : ''}
            autocomplete="off"
            spellcheck={false}
            value={editor.draft[THRESHOLDS]}
            onInput={(event) => editor.set(THRESHOLDS, event.currentTarget.value)}
          />
        )}
      </Field>
    </section>
  )
}
