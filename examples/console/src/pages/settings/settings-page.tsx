import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { EditorField } from '../../form/editor-field.tsx'
import { EditorForm } from '../../form/editor-form.tsx'
import { type Editor, useEditor } from '../../form/use-editor.ts'
import type { Settings } from '../../limits.ts'
import { hrefOf } from '../../route.ts'
import { useApi } from '../../session.ts'
import { Switch } from '../../ui/choice.tsx'
import { useResource } from '../../ui/use-resource.ts'
import { useNames } from '../../words/names.ts'
import { useTexts, useWords } from '../../words/words.ts'
import { texts as historyTexts } from '../history/words.ts'
import { ChangesDialog } from './changes-dialog.tsx'
import { readSettings, settingsFields } from './fields.ts'
import { LimitsTable } from './limits-table.tsx'
import { ModePicker } from './mode-picker.tsx'
import { Prices } from './prices.tsx'
import { settingName, settingValue } from './setting-name.ts'

export function SettingsPage(): JSX.Element {
  const words = useWords()
  const names = useNames()
  const history = useTexts(historyTexts)
  const api = useApi()
  const editor = useEditor(
    {
      href: hrefOf('settings'),
      form: 'limits',
      load: () => api.settings(),
      store: (body: Settings, etag) => api.replaceSettings(body, etag),
      toFields: settingsFields,
      read: readSettings,
    },
    [api],
  )
  const adaptive = useResource(() => api.adaptive(), [api])
  const factor = adaptive.data?.factor ?? 1
  const [isAsking, setAsking] = useState(false)
  const { stored } = editor
  return (
    <>
      <h1>
        {words.settings.title}{' '}
        {stored !== undefined && <span class="tag">{words.settings.version(/\d+/.exec(stored.etag)?.[0] ?? '')}</span>}
      </h1>
      <p class="quiet">
        {words.settings.about} <a href={hrefOf('settings', 'history')}>{history.title}</a>
      </p>
      <EditorForm
        editor={editor}
        lines={24}
        nameOf={(path) => settingName(words, names, path)}
        textOf={(path, text) => settingValue(words, path, text)}
        onSubmit={() => {
          if (Object.keys(editor.faults).length > 0) void editor.save()
          else if (editor.changed.length > 0) setAsking(true)
        }}
      >
        <ModePicker editor={editor} factor={factor} />
        <LimitsTable editor={editor} factor={factor} />
        <Site editor={editor} />
        <Prices editor={editor} />
      </EditorForm>
      {isAsking && <ChangesDialog editor={editor} factor={factor} onClose={() => setAsking(false)} />}
    </>
  )
}

/** Turns the site-wide limits on or off and sets their multiplier. */
function Site({ editor }: { editor: Editor }): JSX.Element {
  const { settings } = useWords()
  return (
    <section aria-labelledby="site">
      <h2 id="site">{settings.site}</h2>
      <Switch
        label={settings.enabled}
        isOn={editor.draft['site.enabled'] === 'true'}
        onChange={(isOn) => editor.set('site.enabled', String(isOn))}
      />
      <p class="quiet small">{settings.enabledAbout}</p>
      <EditorField
        editor={editor}
        path="site.multiplier"
        label={settings.multiplier}
        about={settings.multiplierAbout}
      />
    </section>
  )
}
