import type { JSX } from 'preact'
import { EditorForm } from '../../form/editor-form.tsx'
import { EditorField, EditorSwitch } from '../../form/fields.tsx'
import { type Editor, useEditor } from '../../form/use-editor.ts'
import type { Settings } from '../../limits.ts'
import { hrefOf } from '../../route.ts'
import { useApi } from '../../session.ts'
import { useResource } from '../../ui/use-resource.ts'
import { useWords } from '../../words/words.ts'
import { readSettings, settingsFields } from './fields.ts'
import { LimitsTable } from './limits-table.tsx'
import { ModePicker } from './mode-picker.tsx'
import { Prices } from './prices.tsx'
import { useSettingTexts } from './setting-texts.ts'
import { useBlocking } from './use-blocking.ts'

export function SettingsPage(): JSX.Element {
  const words = useWords()
  const texts = useSettingTexts()
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
  const blocking = useBlocking(editor, factor)
  return (
    <>
      <h1>{words.settings.title}</h1>
      <p class="quiet">
        {words.settings.about} <a href={hrefOf('audit', undefined, { action: 'settings.change' })}>{words.history}</a>
      </p>
      <EditorForm editor={editor} lines={24} texts={texts} warn={blocking}>
        <ModePicker editor={editor} factor={factor} />
        <LimitsTable editor={editor} factor={factor} />
        <Site editor={editor} />
        <Prices editor={editor} />
      </EditorForm>
    </>
  )
}

/** Turns the site-wide limits on or off and sets their multiplier. */
function Site({ editor }: { editor: Editor }): JSX.Element {
  const { settings } = useWords()
  return (
    <section aria-labelledby="site">
      <h2 id="site">{settings.site}</h2>
      <EditorSwitch editor={editor} path="site.enabled" label={settings.enabled} />
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
