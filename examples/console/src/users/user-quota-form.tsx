import type { JSX } from 'preact'
import { useApi } from '../session.ts'
import { CATEGORIES, type Category, WINDOWS, type WindowName } from '../settings/axes.ts'
import { ConflictDialog } from '../settings/conflict-dialog.tsx'
import { SaveBar } from '../settings/save-bar.tsx'
import { ValueInput } from '../ui/field.tsx'
import { Skeleton } from '../ui/loaded.tsx'
import { ErrorNotice } from '../ui/notice.tsx'
import { Switch } from '../ui/switch.tsx'
import { type Editor, useEditor } from '../ui/use-editor.ts'
import type { Words } from '../words/en.ts'
import { useWords } from '../words/words.ts'
import { readUserQuota, userQuotaFields } from './user-quota-fields.ts'

/** Six limits of one user, and whether the site-wide ones apply. */
export function UserQuotaForm({ id, onStored }: { id: string; onStored(): void }): JSX.Element {
  const words = useWords()
  const api = useApi()
  const editor = useEditor(
    {
      load: () => api.userQuota(id),
      async store(body, etag) {
        const stored = await api.replaceUserQuota(id, body, etag)
        onStored()
        return stored
      },
      toFields: userQuotaFields,
      read: readUserQuota,
    },
    [api, id],
  )
  return (
    <section aria-labelledby="quota">
      <h2 id="quota">{words.users.quota}</h2>
      <p class="quiet small">{words.users.quotaAbout}</p>
      {editor.stored === undefined ? (
        <>
          <ErrorNotice error={editor.error} retry={() => void editor.reload()} />
          {editor.error === undefined && <Skeleton lines={8} />}
        </>
      ) : (
        <QuotaFields editor={editor} />
      )}
      <ConflictDialog
        editor={editor}
        nameOf={(path) => overrideName(words, path)}
        textOf={(path, text) => overrideText(words, path, text)}
      />
    </section>
  )
}

function QuotaFields({ editor }: { editor: Editor }): JSX.Element {
  const words = useWords()
  const { draft } = editor
  const isDefault = Object.entries(draft).every(([path, text]) => text === (path === 'bypassSite' ? 'false' : ''))
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        void editor.save()
      }}
      autocomplete="off"
    >
      <table class="overrides">
        <thead>
          <tr>
            <td />
            {WINDOWS.map((window) => (
              <th key={window} scope="col">
                {words.windows[window]}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {CATEGORIES.map((category) => (
            <OverrideRow key={category} editor={editor} category={category} />
          ))}
        </tbody>
      </table>
      <Switch
        label={words.users.bypass}
        isOn={draft.bypassSite === 'true'}
        onChange={(isOn) => editor.set('bypassSite', String(isOn))}
      />
      <p class="quiet small">{words.users.bypassAbout}</p>
      <SaveBar editor={editor} nameOf={(path) => overrideName(words, path)}>
        <button type="button" disabled={isDefault} onClick={() => editor.setAll(emptied(draft))}>
          {words.users.removeQuota}
        </button>
      </SaveBar>
    </form>
  )
}

function OverrideRow({ editor, category }: { editor: Editor; category: Category }): JSX.Element {
  const words = useWords()
  return (
    <tr>
      <th scope="row">{words.categories[category]}</th>
      {WINDOWS.map((window) => {
        const path = `overrides.${category}.${window}`
        const fault = editor.faults[path]
        return (
          <td key={window}>
            <ValueInput
              label={overrideName(words, path)}
              value={editor.draft[path] ?? ''}
              fault={fault === undefined ? undefined : words.settings.faults[fault]}
              isChanged={editor.changed.includes(path)}
              placeholder={words.users.follows}
              onInput={(text) => editor.set(path, text)}
            />
          </td>
        )
      })}
    </tr>
  )
}

function emptied(draft: Editor['draft']): Editor['draft'] {
  return Object.fromEntries(Object.keys(draft).map((path) => [path, path === 'bypassSite' ? 'false' : '']))
}

function overrideName(words: Words, path: string): string {
  const [, category, window] = path.split('.')
  if (path === 'bypassSite') return words.users.bypass
  return words.users.overrideOf(words.categories[category as Category], words.windows[window as WindowName])
}

function overrideText(words: Words, path: string, text: string): string {
  if (path === 'bypassSite') return text === 'true' ? '✓' : words.settings.off
  return text === '' ? words.users.follows : text
}
