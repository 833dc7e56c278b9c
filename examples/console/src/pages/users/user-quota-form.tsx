import type { JSX } from 'preact'
import type { Change, FieldTexts } from '../../form/changes.tsx'
import { EditorForm } from '../../form/editor-form.tsx'
import { effectiveLimit, limitText } from '../../form/effective-limit.ts'
import { EditorSwitch, EditorValue } from '../../form/fields.tsx'
import { changedPaths } from '../../form/form.ts'
import { type Editor, useEditor } from '../../form/use-editor.ts'
import { CATEGORIES, type Category, type UserQuota, WINDOWS, type Window } from '../../limits.ts'
import { hrefOf } from '../../route.ts'
import { useApi } from '../../session.ts'
import { Scroll } from '../../ui/table.tsx'
import { useResource } from '../../ui/use-resource.ts'
import { useNames } from '../../words/names.ts'
import { useFormats, useWords } from '../../words/words.ts'
import { settingsFields } from '../settings/fields.ts'
import { BYPASS, NO_OVERRIDES, overridePath, readUserQuota, userQuotaFields } from './user-quota-fields.ts'

/** One user's limits, and whether the site-wide limits apply. */
export function UserQuotaForm({ id, onStored }: { id: string; onStored(): void }): JSX.Element {
  const words = useWords()
  const api = useApi()
  const texts = useOverrideTexts()
  const defaultOf = useDefaults()
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
  const isBlocking = ({ path }: Change): boolean => path !== BYPASS && Number(editor.draft[path] || 1) === 0
  return (
    <section aria-labelledby="user-quota">
      <h2 id="user-quota">{words.users.quota}</h2>
      <p class="quiet small">
        {words.users.quotaAbout}{' '}
        <a href={hrefOf('audit', undefined, { action: 'user-quota.change', subject: id })}>{words.history}</a>
      </p>
      <EditorForm
        editor={editor}
        lines={8}
        texts={texts}
        warn={(changes) => changes.map((each) => (isBlocking(each) ? { ...each, warning: words.users.blocks } : each))}
        buttons={<FollowDefaults editor={editor} />}
      >
        <Overrides editor={editor} texts={texts} defaultOf={defaultOf} />
        <EditorSwitch editor={editor} path={BYPASS} label={texts.nameOf(BYPASS)} />
        <p class="quiet small">{words.users.bypassAbout}</p>
      </EditorForm>
    </section>
  )
}

interface OverridesProps {
  readonly editor: Editor
  readonly texts: FieldTexts
  defaultOf(category: Category, window: Window): string | undefined
}

function Overrides({ editor, texts, defaultOf }: OverridesProps): JSX.Element {
  const words = useWords()
  const names = useNames()
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
                    <EditorValue
                      editor={editor}
                      path={path}
                      label={texts.nameOf(path)}
                      hint={defaultOf(category, window)}
                    />
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

/** Returns the limits of users without overrides, in the mode that is in effect. */
function useDefaults(): OverridesProps['defaultOf'] {
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
  return (
    <button
      type="button"
      disabled={changedPaths(NO_OVERRIDES, editor.draft).length === 0}
      onClick={() => editor.setAll(NO_OVERRIDES)}
    >
      {words.users.removeQuota}
    </button>
  )
}

/** One user's limits in words. */
export function useOverrideTexts(): FieldTexts {
  const { users, settings } = useWords()
  const names = useNames()
  return {
    nameOf(path) {
      const [, category = '', window = ''] = path.split('.')
      return path === BYPASS ? users.bypass : users.overrideOf(names.category(category), names.window(window))
    },
    textOf(path, text) {
      if (path === BYPASS) return text === 'true' ? '✓' : settings.off
      return text === '' ? users.follows : text
    },
  }
}
