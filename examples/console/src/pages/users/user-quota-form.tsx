import type { JSX } from 'preact'
import { useId } from 'preact/hooks'
import type { Layer, Policy, UserQuota } from '../../api/documents.ts'
import { labelsOf, ownLayers, sharedLayers } from '../../form/axes.ts'
import { EditorField, EditorValue } from '../../form/editor-field.tsx'
import { EditorForm } from '../../form/editor-form.tsx'
import { type Editor, useEditor } from '../../form/use-editor.ts'
import { hrefOf } from '../../route.ts'
import { useApi, usePolicy } from '../../session.ts'
import { Switch } from '../../ui/choice.tsx'
import { Field } from '../../ui/field.tsx'
import { Scroll } from '../../ui/scroll.tsx'
import { useResource } from '../../ui/use-resource.ts'
import { WindowsHead } from '../../ui/windows-head.tsx'
import type { Words } from '../../words/en.ts'
import { type Names, useNames } from '../../words/names.ts'
import { useWords } from '../../words/words.ts'
import { bypassPaths, overridePath, readUserQuota, userQuotaFields } from './user-quota-fields.ts'

interface UserQuotaProps {
  readonly id: string
  /** A layer that isn't shared. */
  readonly layer: Layer
  onStored(): void
}

/** One user's limits in a layer, and which shared layers apply. */
export function UserQuotaForm({ id, layer, onStored }: UserQuotaProps): JSX.Element {
  const words = useWords()
  const names = useNames()
  const api = useApi()
  const policy = usePolicy()
  const heading = useId()
  const editor = useEditor(
    {
      href: hrefOf('users', id),
      form: `quota of ${layer.name}`,
      load: () => api.userQuota(id, layer.name),
      async store(body: UserQuota, etag) {
        const stored = await api.replaceUserQuota(id, layer.name, body, etag)
        onStored()
        return stored
      },
      toFields: (document) => userQuotaFields(policy, layer, document),
      read: (fields) => readUserQuota(policy, layer, fields),
    },
    [api, policy, id, layer.name],
  )
  const title = ownLayers(policy).length === 1 ? words.users.quota : words.users.quotaOf(names.layer(layer.name))
  const nameOf = (path: string): string => overrideName(words, names, policy, path)
  return (
    <section aria-labelledby={heading}>
      <h2 id={heading}>{title}</h2>
      <p class="quiet small">{words.users.quotaAbout}</p>
      <EditorForm
        editor={editor}
        lines={8}
        nameOf={nameOf}
        textOf={(path, text) => overrideText(words, path, text)}
        buttons={<FollowDefaults editor={editor} />}
      >
        <QuotaFields editor={editor} layer={layer} title={title} nameOf={nameOf} />
      </EditorForm>
    </section>
  )
}

interface FieldsProps {
  readonly editor: Editor
  readonly layer: Layer
  nameOf(path: string): string
}

function QuotaFields({ editor, layer, title, nameOf }: FieldsProps & { title: string }): JSX.Element {
  const words = useWords()
  const names = useNames()
  const policy = usePolicy()
  const { draft } = editor
  const labels = labelsOf(layer)
  const until = (path: string): JSX.Element => (
    <EditorField editor={editor} path={path} label={nameOf(path)} about={words.users.untilAbout} kind="instant" />
  )
  const always = ownLayers(policy).map(({ name }) => names.layer(name))
  return (
    <>
      <Scroll label={title}>
        <table class="overrides">
          <WindowsHead labels={labels} />
          <tbody>
            {policy.categories.map((category) => (
              <OverrideRow key={category} editor={editor} layer={layer} category={category} nameOf={nameOf} />
            ))}
          </tbody>
        </table>
      </Scroll>
      {until('until.overrides')}
      <PlanField editor={editor} />
      {until('until.plan')}
      {bypassPaths(policy).map((path) => (
        <Switch
          key={path}
          label={nameOf(path)}
          isOn={draft[path] === 'true'}
          onChange={(isOn) => editor.set(path, String(isOn))}
        />
      ))}
      <p class="quiet small">{words.users.bypassAbout(always.join(', '))}</p>
    </>
  )
}

function FollowDefaults({ editor }: { editor: Editor }): JSX.Element {
  const words = useWords()
  const empty = emptied(editor.draft)
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

function OverrideRow({ editor, layer, category, nameOf }: FieldsProps & { category: string }): JSX.Element {
  const words = useWords()
  const names = useNames()
  return (
    <tr>
      <th scope="row">{names.category(category)}</th>
      {labelsOf(layer).map((label) => {
        if (!(layer.limits[category] ?? []).includes(label)) return <td key={label} />
        const path = overridePath(category, label)
        return (
          <td key={label}>
            <EditorValue editor={editor} path={path} label={nameOf(path)} placeholder={words.users.follows} />
          </td>
        )
      })}
    </tr>
  )
}

function isOverride(path: string): boolean {
  return path.startsWith('overrides.')
}

function emptied(draft: Editor['draft']): Editor['draft'] {
  return Object.fromEntries(
    Object.entries(draft).map(([path, text]) => [path, text === 'true' || text === 'false' ? 'false' : '']),
  )
}

function overrideName(words: Words, names: Names, policy: Policy, path: string): string {
  const [, category = '', window = ''] = path.split('.')
  if (path === 'plan') return words.users.plan
  if (path === 'anchor') return words.users.anchor
  if (path === 'until.overrides') return words.users.untilOverrides
  if (path === 'until.plan') return words.users.untilPlan
  if (isOverride(path)) return words.users.overrideOf(names.category(category), names.window(window))
  const layer = sharedLayers(policy).find(({ bypass }) => bypass === path)
  return layer === undefined ? path : words.users.bypass(names.layer(layer.name))
}

function overrideText(words: Words, path: string, text: string): string {
  if (text === 'true' || text === 'false') return text === 'true' ? '✓' : words.settings.off
  if (!isOverride(path)) return text === '' ? words.none : text
  return text === '' ? words.users.follows : text
}

/** The choice of a plan. A plan that no longer exists is still shown. */
function PlanField({ editor }: { editor: Editor }): JSX.Element {
  const words = useWords()
  const api = useApi()
  const { plans } = usePolicy()
  const settings = useResource(() => api.settings(), [api])
  const [stored, draft] = [editor.stored?.fields.plan ?? '', editor.draft.plan ?? '']
  const known = [...plans, ...Object.keys(settings.data?.document.plans ?? {}), stored, draft]
  return (
    <Field label={words.users.plan}>
      {(props) => (
        <select
          {...props}
          class={editor.changed.includes('plan') ? 'changed' : ''}
          value={draft}
          onChange={(event) => editor.set('plan', event.currentTarget.value)}
        >
          <option value="">{words.users.noPlan}</option>
          {[...new Set(known)]
            .filter((plan) => plan !== '')
            .map((plan) => (
              <option key={plan} value={plan}>
                {plan}
              </option>
            ))}
        </select>
      )}
    </Field>
  )
}
