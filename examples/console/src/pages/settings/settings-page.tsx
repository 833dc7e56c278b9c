import type { JSX } from 'preact'
import type { Settings } from '../../api/documents.ts'
import { sharedLayers } from '../../form/axes.ts'
import { ConflictDialog } from '../../form/conflict-dialog.tsx'
import { SaveBar } from '../../form/save-bar.tsx'
import { useEditor } from '../../form/use-editor.ts'
import { goTo, hrefOf, useRoute } from '../../route.ts'
import { useApi, usePolicy } from '../../session.ts'
import { Skeleton } from '../../ui/loaded.tsx'
import { ErrorNotice } from '../../ui/notice.tsx'
import { useResource } from '../../ui/use-resource.ts'
import { useNames } from '../../words/names.ts'
import { useWords } from '../../words/words.ts'
import { LinksOf } from '../links-of.tsx'
import { readSettings, settingsFields } from './fields.ts'
import { LimitsTable } from './limits-table.tsx'
import { ModePicker } from './mode-picker.tsx'
import { NotInForce } from './not-in-force.tsx'
import type { PartProps } from './part-props.ts'
import { Plans } from './plans.tsx'
import { Prices } from './prices.tsx'
import { settingName, settingValue } from './setting-name.ts'
import { Shadow } from './shadow.tsx'
import { SharedLayer } from './shared-layer.tsx'
import { hrefOfTab, TABS, type Tab, tabOf } from './tab-names.ts'
import { Tabs } from './tabs.tsx'
import { Thresholds } from './thresholds.tsx'

/** The limits of everybody. */
export function SettingsPage(): JSX.Element {
  const words = useWords()
  const names = useNames()
  const policy = usePolicy()
  const { query } = useRoute()
  const tab = TABS.find((each) => each === query.tab) ?? 'base'
  const api = useApi()
  const editor = useEditor(
    {
      href: hrefOf('settings'),
      form: 'limits',
      load: () => api.settings(),
      store: (body: Settings, etag) => api.replaceSettings(body, etag),
      toFields: (document) => settingsFields(policy, document),
      read: (fields) => readSettings(policy, fields),
      notInForce: ({ faults = [] }) => faults,
    },
    [api, policy],
  )
  const adaptive = useResource(() => api.adaptive(), [api])
  const factor = adaptive.data?.factor ?? 1
  const { stored } = editor
  const nameOf = (path: string): string => settingName(words, names, path)
  return (
    <>
      <h1>
        {words.settings.title}{' '}
        {stored !== undefined && <span class="tag">{words.settings.version(/\d+/.exec(stored.etag)?.[0] ?? '')}</span>}
      </h1>
      <p class="quiet">
        {words.settings.about} <LinksOf page="settings" />
      </p>
      {stored === undefined ? (
        <>
          <ErrorNotice error={editor.error} retry={() => void editor.reload()} />
          {editor.error === undefined && <Skeleton lines={24} />}
        </>
      ) : (
        <>
          <NotInForce remarks={stored.notInForce} nameOf={nameOf} />
          <form
            onSubmit={(event) => {
              event.preventDefault()
              void editor.save()
              // What is wrong is shown, wherever it is.
              const faulty = Object.keys(editor.faults).map(tabOf)
              const [first] = faulty
              if (first !== undefined && !faulty.includes(tab)) goTo(hrefOfTab(first))
            }}
            autocomplete="off"
          >
            <Tabs editor={editor} chosen={tab} />
            <Part tab={tab} editor={editor} factor={factor} />
            <SaveBar editor={editor} nameOf={nameOf} />
          </form>
        </>
      )}
      <ConflictDialog editor={editor} nameOf={nameOf} textOf={(path, text) => settingValue(words, path, text)} />
    </>
  )
}

function Part({ tab, editor, factor }: PartProps & { tab: Tab }): JSX.Element {
  const policy = usePolicy()
  switch (tab) {
    case 'base':
      return (
        <>
          <ModePicker editor={editor} factor={factor} />
          <LimitsTable editor={editor} factor={factor} />
          {sharedLayers(policy).map(({ name }) => (
            <SharedLayer key={name} editor={editor} layer={name} />
          ))}
        </>
      )
    case 'plans':
      return <Plans editor={editor} />
    case 'prices':
      return <Prices editor={editor} />
    case 'shadow':
      return <Shadow editor={editor} />
    case 'thresholds':
      return <Thresholds editor={editor} />
  }
}
