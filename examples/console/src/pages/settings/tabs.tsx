import type { JSX } from 'preact'
import type { Editor } from '../../form/use-editor.ts'
import { useWords } from '../../words/words.ts'
import { hrefOfTab, TABS, type Tab, tabOf } from './tab-names.ts'

/** Links to the tabs. Those with unsaved changes are marked. */
export function Tabs({ editor, chosen }: { editor: Editor; chosen: Tab }): JSX.Element {
  const { settings, nav } = useWords()
  const changed = new Set(editor.changed.map(tabOf))
  return (
    <nav class="tabs" aria-label={settings.tabsLabel}>
      {TABS.map((tab) => (
        <a key={tab} href={hrefOfTab(tab)} aria-current={tab === chosen ? 'true' : undefined}>
          {settings.tabs[tab]}
          {changed.has(tab) && <span class="dot" role="img" aria-label={nav.unsaved} />}
        </a>
      ))}
    </nav>
  )
}
