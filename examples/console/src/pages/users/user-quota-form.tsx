import type { JSX } from 'preact'
import { useId } from 'preact/hooks'
import type { Layer, Policy, UserQuota } from '../../api/documents.ts'
import { labelsOf, ownLayers, sharedLayers } from '../../form/axes.ts'
import { ConflictDialog } from '../../form/conflict-dialog.tsx'
import { SaveBar } from '../../form/save-bar.tsx'
import { type Editor, useEditor } from '../../form/use-editor.ts'
import { hrefOf } from '../../route.ts'
import { useApi, usePolicy } from '../../session.ts'
import { ValueInput } from '../../ui/field.tsx'
import { Skeleton } from '../../ui/loaded.tsx'
import { ErrorNotice } from '../../ui/notice.tsx'
import { Scroll } from '../../ui/scroll.tsx'
import { Switch } from '../../ui/switch.tsx'
import type { Words } from '../../words/en.ts'
import { type Names, useNames } from '../../words/names.ts'
import { useWords } from '../../words/words.ts'
import { PlanField } from './plan-field.tsx'
import { UntilField } from './until-field.tsx'
import { bypassPaths, overridePath, readUserQuota, userQuotaFields } from './user-quota-fields.ts'

interface UserQuotaProps {
  readonly id: string
  /** One that each user has windows of. */
  readonly layer: Layer
  onStored(): void
}

/** One user's limits in a layer, and which of the shared layers apply. */
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
      {editor.stored === undefined ? (
        <>
          <ErrorNotice error={editor.error} retry={() => void editor.reload()} />
          {editor.error === undefined && <Skeleton lines={8} />}
        </>
      ) : (
        <QuotaFields editor={editor} layer={layer} title={title} nameOf={nameOf} />
      )}
      <ConflictDialog editor={editor} nameOf={nameOf} textOf={(path, text) => overrideText(words, path, text)} />
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
  const empty = emptied(draft)
  const labels = labelsOf(layer)
  const always = ownLayers(policy).map(({ name }) => names.layer(name))
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        void editor.save()
      }}
      autocomplete="off"
    >
      <Scroll label={title}>
        <table class="overrides">
          <thead>
            <tr>
              <td />
              {labels.map((label) => (
                <th key={label} scope="col">
                  {names.window(label)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {policy.categories.map((category) => (
              <OverrideRow key={category} editor={editor} layer={layer} category={category} nameOf={nameOf} />
            ))}
          </tbody>
        </table>
      </Scroll>
      <UntilField editor={editor} path="until.overrides" label={nameOf('until.overrides')} />
      <PlanField editor={editor} />
      <UntilField editor={editor} path="until.plan" label={nameOf('until.plan')} />
      {bypassPaths(policy).map((path) => (
        <Switch
          key={path}
          label={nameOf(path)}
          isOn={draft[path] === 'true'}
          onChange={(isOn) => editor.set(path, String(isOn))}
        />
      ))}
      <p class="quiet small">{words.users.bypassAbout(always.join(', '))}</p>
      <SaveBar editor={editor} nameOf={nameOf}>
        <button
          type="button"
          disabled={Object.entries(draft).every(([path, text]) => text === empty[path])}
          onClick={() => editor.setAll(empty)}
        >
          {words.users.removeQuota}
        </button>
      </SaveBar>
    </form>
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
        const fault = editor.faults[path]
        return (
          <td key={label}>
            <ValueInput
              label={nameOf(path)}
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
