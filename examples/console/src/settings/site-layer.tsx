import type { JSX } from 'preact'
import { Field } from '../ui/field.tsx'
import { Switch } from '../ui/switch.tsx'
import { useWords } from '../words/words.ts'
import type { PartProps } from './part-props.ts'

/** Whether the site-wide layer applies, and its multiplier. */
export function SiteLayer({ editor }: PartProps): JSX.Element {
  const words = useWords()
  const { settings } = words
  const fault = editor.faults['site.multiplier']
  return (
    <section aria-labelledby="site">
      <h2 id="site">{settings.site}</h2>
      <Switch
        label={settings.enabled}
        isOn={editor.draft['site.enabled'] === 'true'}
        onChange={(isOn) => editor.set('site.enabled', String(isOn))}
      />
      <p class="quiet small">{settings.enabledAbout}</p>
      <Field
        label={settings.multiplier}
        about={settings.multiplierAbout}
        fault={fault === undefined ? undefined : settings.faults[fault]}
      >
        {(props) => (
          <input
            {...props}
            class={editor.changed.includes('site.multiplier') ? 'number changed' : 'number'}
            inputMode="decimal"
            autocomplete="off"
            value={editor.draft['site.multiplier']}
            onInput={(event) => editor.set('site.multiplier', event.currentTarget.value)}
          />
        )}
      </Field>
    </section>
  )
}
