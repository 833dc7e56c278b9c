import type { JSX } from 'preact'
import { EditorValue } from '../../form/editor-field.tsx'
import { EditorForm } from '../../form/editor-form.tsx'
import { effectiveLimit, limitText } from '../../form/effective-limit.ts'
import { type Editor, useEditor } from '../../form/use-editor.ts'
import { CATEGORIES, type Category, type UserQuota, WINDOWS, type Window } from '../../limits.ts'
import { hrefOf } from '../../route.ts'
import { useApi } from '../../session.ts'
import { Switch } from '../../ui/choice.tsx'
import { Scroll } from '../../ui/scroll.tsx'
import { useResource } from '../../ui/use-resource.ts'
import type { Words } from '../../words/en.ts'
import { type Names, useNames } from '../../words/names.ts'
import { useFormats, useWords } from '../../words/words.ts'
import { settingsFields } from '../settings/fields.ts'
import { BYPASS, overridePath, readUserQuota, userQuotaFields } from './user-quota-fields.ts'

/** One user's limits, and whether the site-wide limits apply. */
export function UserQuotaForm({ id, onStored }: { id: string; onStored(): void }): JSX.Element {
  const words = useWords()
  const names = useNames()
  const api = useApi()
  const editor = useEditor(
    {
      href: hrefOf('users', id),
      form: 'quota',
      load: () => api.userQuota(id),
      async store(body: UserQuota, etag) {
        const stored = await api.replaceUserQuota(id, body, etag)
        onStored()
        return stored
      },
      toFields: userQuotaFields,
      read: readUserQuota,
    },
    [api, id],
  )
  const nameOf = (path: string): string => overrideName(words, names, path)
  return (
    <section aria-labelledby="user-quota">
      <h2 id="user-quota">{words.users.quota}</h2>
      <p class="quiet small">{words.users.quotaAbout}</p>
      <EditorForm
        editor={editor}
        lines={8}
        nameOf={nameOf}
        textOf={(path, text) => overrideText(words, path, text)}
        buttons={<FollowDefaults editor={editor} />}
      >
        <Overrides editor={editor} nameOf={nameOf} />
        <Switch
          label={nameOf(BYPASS)}
          isOn={editor.draft[BYPASS] === 'true'}
          onChange={(isOn) => editor.set(BYPASS, String(isOn))}
        />
        <p class="quiet small">{words.users.bypassAbout}</p>
      </EditorForm>
    </section>
  )
}

function Overrides({ editor, nameOf }: { editor: Editor; nameOf(path: string): string }): JSX.Element {
  const words = useWords()
  const names = useNames()
  const defaultOf = useDefaults()
  return (
    <Scroll label={words.users.quota}>
      <table class="overrides">
        <thead>
          <tr>
            <td />
            {WINDOWS.map((window) => (
              <th key={window} scope="col">
                {names.window(window)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {CATEGORIES.map((category) => (
            <tr key={category}>
              <th scope="row">{names.category(category)}</th>
              {WINDOWS.map((window) => {
                const path = overridePath(category, window)
                return (
                  <td key={window}>
                    <EditorValue editor={editor} path={path} label={nameOf(path)} hint={defaultOf(category, window)} />
                  </td>
                )
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  )
}

/** Tells the limits of users without overrides, in the mode that is in effect. */
function useDefaults(): (category: Category, window: Window) => string | undefined {
  const { users } = useWords()
  const formats = useFormats()
  const api = useApi()
  const { data } = useResource(async () => {
    const [{ document }, { factor }] = await Promise.all([api.settings(), api.adaptive()])
    return { fields: settingsFields(document), mode: document.mode, factor }
  }, [api])
  return (category, window) => {
    if (data === undefined) return undefined
    const limit = effectiveLimit(data.fields, { layer: 'personal', category, window }, data.mode, data.factor)
    const now = limit.kind === 'range' ? ({ kind: 'limit', tokens: limit.now } as const) : limit
    return users.defaultIs(limitText(now, formats))
  }
}

function FollowDefaults({ editor }: { editor: Editor }): JSX.Element {
  const words = useWords()
  const empty = Object.fromEntries(Object.keys(editor.draft).map((path) => [path, path === BYPASS ? 'false' : '']))
  return (
    <button
      type="button"
      disabled={Object.entries(editor.draft).every(([path, text]) => text === empty[path])}
      onClick={() => editor.setAll(empty)}
    >
      {words.users.removeQuota}
    </button>
  )
}

function overrideName({ users }: Words, names: Names, path: string): string {
  const [, category = '', window = ''] = path.split('.')
  return path === BYPASS ? users.bypass : users.overrideOf(names.category(category), names.window(window))
}

function overrideText({ users, settings }: Words, path: string, text: string): string {
  if (path === BYPASS) return text === 'true' ? '✓' : settings.off
  return text === '' ? users.follows : text
}
