import type { JSX } from 'preact'
import type { Layer } from '../../api/documents.ts'
import { labelsOf } from '../../form/axes.ts'
import type { Editor } from '../../form/use-editor.ts'
import { usePolicy } from '../../session.ts'
import { Switch } from '../../ui/choice.tsx'
import { useNames } from '../../words/names.ts'
import { useWords } from '../../words/words.ts'
import { shadowPath } from './rule-fields.ts'

export function Shadow({ editor }: { editor: Editor }): JSX.Element {
  const { settings } = useWords()
  const { layers } = usePolicy()
  return (
    <section aria-labelledby="shadow">
      <h2 id="shadow">{settings.shadow}</h2>
      <p class="quiet">{settings.shadowAbout}</p>
      <div class="columns">
        {layers.map((layer) => (
          <ShadowOf key={layer.name} editor={editor} layer={layer} />
        ))}
      </div>
    </section>
  )
}

function ShadowOf({ editor, layer }: { editor: Editor; layer: Layer }): JSX.Element {
  const { settings } = useWords()
  const names = useNames()
  const all = shadowPath(layer.name)
  const isAll = editor.draft[all] === 'true'
  return (
    <fieldset class="shadow">
      <legend>{names.layer(layer.name)}</legend>
      <Switch
        label={settings.shadowAll(names.layer(layer.name))}
        isOn={isAll}
        onChange={(isOn) => editor.set(all, String(isOn))}
      />
      {!isAll &&
        labelsOf(layer).map((label) => {
          const path = shadowPath(layer.name, label)
          return (
            <Switch
              key={label}
              label={settings.shadowOne(names.layer(layer.name), names.window(label))}
              isOn={editor.draft[path] === 'true'}
              onChange={(isOn) => editor.set(path, String(isOn))}
            />
          )
        })}
    </fieldset>
  )
}
