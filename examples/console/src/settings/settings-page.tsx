import type { JSX } from 'preact'
import { useApi } from '../session.ts'
import { Skeleton } from '../ui/loaded.tsx'
import { ErrorNotice } from '../ui/notice.tsx'
import type { Editor } from '../ui/use-editor.ts'
import { useResource } from '../ui/use-resource.ts'
import { useWords } from '../words/words.ts'
import { ConflictDialog } from './conflict-dialog.tsx'
import { LimitsTable } from './limits-table.tsx'
import { ModePicker } from './mode-picker.tsx'
import { Prices } from './prices.tsx'
import { SaveBar } from './save-bar.tsx'
import { settingName, settingValue } from './setting-name.ts'
import { SiteLayer } from './site-layer.tsx'

/** The limits of everybody. */
export function SettingsPage({ editor }: { editor: Editor }): JSX.Element {
  const words = useWords()
  const api = useApi()
  const adaptive = useResource(() => api.adaptive(), [api])
  const factor = adaptive.data?.factor ?? 1
  const { stored } = editor
  return (
    <>
      <h1>
        {words.settings.title}{' '}
        {stored !== undefined && <span class="tag">{words.settings.version(stored.etag.replaceAll('"', ''))}</span>}
      </h1>
      <p class="quiet">{words.settings.about}</p>
      {stored === undefined ? (
        <>
          <ErrorNotice error={editor.error} retry={() => void editor.reload()} />
          {editor.error === undefined && <Skeleton lines={24} />}
        </>
      ) : (
        <form
          onSubmit={(event) => {
            event.preventDefault()
            void editor.save()
          }}
          autocomplete="off"
        >
          <ModePicker editor={editor} factor={factor} />
          <LimitsTable editor={editor} factor={factor} />
          <SiteLayer editor={editor} factor={factor} />
          <Prices editor={editor} />
          <SaveBar editor={editor} nameOf={(path) => settingName(words, path)} />
        </form>
      )}
      <ConflictDialog
        editor={editor}
        nameOf={(path) => settingName(words, path)}
        textOf={(path, text) => settingValue(words, path, text)}
      />
    </>
  )
}
