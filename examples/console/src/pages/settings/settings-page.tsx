import type { JSX } from 'preact'
import { useId } from 'preact/hooks'
import type { Remark } from '../../api/api.ts'
import type { Settings } from '../../api/documents.ts'
import { sharedLayers } from '../../form/axes.ts'
import { EditorField } from '../../form/editor-field.tsx'
import { EditorForm } from '../../form/editor-form.tsx'
import { type Editor, useEditor } from '../../form/use-editor.ts'
import { goTo, hrefOf, useRoute } from '../../route.ts'
import { useApi, usePolicy } from '../../session.ts'
import { Switch } from '../../ui/choice.tsx'
import { useResource } from '../../ui/use-resource.ts'
import { useNames } from '../../words/names.ts'
import { useTexts, useWords } from '../../words/words.ts'
import { texts as historyTexts } from '../history/words.ts'
import { readSettings, settingsFields } from './fields.ts'
import { LimitsTable, type PartProps } from './limits-table.tsx'
import { ModePicker } from './mode-picker.tsx'
import { Plans } from './plans.tsx'
import { Prices } from './prices.tsx'
import { THRESHOLDS } from './rule-fields.ts'
import { settingName, settingValue } from './setting-name.ts'
import { Shadow } from './shadow.tsx'
import { hrefOfTab, TABS, type Tab, tabOf } from './tab-names.ts'
import { Tabs } from './tabs.tsx'

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
        {words.settings.about} <a href={hrefOf('settings', 'history')}>{useTexts(historyTexts).title}</a>
      </p>
      <EditorForm
        editor={editor}
        lines={24}
        nameOf={nameOf}
        textOf={(path, text) => settingValue(words, path, text)}
        onSubmit={() => {
          void editor.save()
          // If the open tab has no fault, opens the tab with the first one.
          const faulty = Object.keys(editor.faults).map(tabOf)
          const [first] = faulty
          if (first !== undefined && !faulty.includes(tab)) goTo(hrefOfTab(first))
        }}
      >
        <NotInForce remarks={stored?.notInForce ?? []} nameOf={nameOf} />
        <Tabs editor={editor} chosen={tab} />
        <Part tab={tab} editor={editor} factor={factor} />
      </EditorForm>
    </>
  )
}

function Part({ tab, editor, factor }: PartProps & { tab: Tab }): JSX.Element {
  const { settings } = useWords()
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
      return (
        <section aria-labelledby="thresholds">
          <h2 id="thresholds">{settings.thresholds}</h2>
          <EditorField
            editor={editor}
            path={THRESHOLDS}
            label={settings.thresholdsList}
            about={settings.thresholdsAbout}
          />
        </section>
      )
  }
}

interface NotInForceProps {
  readonly remarks: readonly Remark[]
  nameOf(path: string): string
}

/** Stored values that aren't in effect. */
function NotInForce({ remarks, nameOf }: NotInForceProps): JSX.Element | null {
  const words = useWords()
  if (remarks.length === 0) return null
  return (
    <div class="notice warning not-in-force" role="status">
      <p>{words.settings.notInForce}</p>
      <ul>
        {remarks.map(({ path, msg }) => (
          <li key={path}>
            {nameOf(path)} (<code>{path}</code>): {msg}
          </li>
        ))}
      </ul>
    </div>
  )
}

/** Turns a shared layer on or off and sets its multiplier. */
function SharedLayer({ editor, layer }: { editor: Editor; layer: string }): JSX.Element {
  const { settings } = useWords()
  const id = useId()
  const name = useNames().layer(layer)
  const enabled = `${layer}.enabled`
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>{settings.sharedLayer(name)}</h2>
      <Switch
        label={settings.enabled(name)}
        isOn={editor.draft[enabled] === 'true'}
        onChange={(isOn) => editor.set(enabled, String(isOn))}
      />
      <p class="quiet small">{settings.enabledAbout}</p>
      <EditorField
        editor={editor}
        path={`${layer}.multiplier`}
        label={settings.multiplier(name)}
        about={settings.multiplierAbout}
        kind="decimal"
      />
    </section>
  )
}
