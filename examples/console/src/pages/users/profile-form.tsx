import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { User, UserChange, Versioned } from '../../api/api.ts'
import { EditorForm } from '../../form/editor-form.tsx'
import { type Faults, type Fields, type Read, wholeNumber } from '../../form/form.ts'
import { useEditor } from '../../form/use-editor.ts'
import { hrefOf } from '../../route.ts'
import { useApi } from '../../session.ts'
import { Confirm } from '../../ui/confirm.tsx'
import { Field } from '../../ui/field.tsx'
import type { Words } from '../../words/en.ts'
import { useWords } from '../../words/words.ts'

export function ProfileForm({ id, onChanged }: { id: string; onChanged(user: Versioned<User>): void }): JSX.Element {
  const words = useWords()
  const api = useApi()
  const [isAsking, setAsking] = useState(false)
  const editor = useEditor(
    {
      href: hrefOf('users', id),
      form: 'profile',
      load: () => api.user(id),
      async store(body: UserChange, etag) {
        const stored = await api.changeUser(id, body, etag)
        onChanged(stored)
        return { ...stored, warnings: [] }
      },
      toFields: profileFields,
      read: (fields) => readProfile(fields),
    },
    [api, id],
  )
  const { draft, changed, faults } = editor
  const kind = draft.role === 'admin' ? 'give' : 'take'
  const question = changed.includes('role') ? kind : undefined

  return (
    <section aria-labelledby="profile">
      <h2 id="profile">{words.users.profile}</h2>
      <EditorForm
        editor={editor}
        lines={6}
        nameOf={(path) => profileName(words, path)}
        textOf={(path, text) => profileText(words, path, text)}
        onSubmit={() => {
          if (question === undefined || Object.keys(faults).length > 0) void editor.save()
          else setAsking(true)
        }}
      >
        <ProfileFields fields={draft} faults={faults} changed={changed} onChange={editor.set} />
      </EditorForm>
      {isAsking && question !== undefined && (
        <AdminQuestion id={id} kind={question} act={() => void editor.save()} onClose={() => setAsking(false)} />
      )}
    </section>
  )
}

function profileName({ users }: Words, path: string): string {
  if (path === 'name') return users.name
  return path === 'role' ? users.role : users.qq
}

function profileText(words: Words, path: string, text: string): string {
  if (path === 'role') return words.users.roles[text === 'admin' ? 'admin' : 'player']
  return text === '' ? words.none : text
}

const ROLES = ['player', 'admin'] as const
const LEAST_QQ = 10_000
const MOST_QQ = 999_999_999_999

const PROFILE_PATHS = ['name', 'role', 'qq'] as const

export const NEW_PROFILE: Fields = { name: '', role: 'player', qq: '' }

function profileFields({ name, role, qq }: Pick<User, 'name' | 'role' | 'qq'>): Fields {
  return { name, role, qq: qq === null ? '' : String(qq) }
}

/** @param isNameOptional leaves out an empty name, so that the id becomes the name */
export function readProfile(fields: Fields, isNameOptional = false): Read<UserChange> {
  const { name = '', role, qq = '' } = fields
  const isNameGood = /^[^\p{Cc}\p{Cs}]{1,64}$/u.test(name) || (isNameOptional && name === '')
  const faults: Faults = { ...(isNameGood ? {} : { name: 'name' }), ...(hasGoodQq(qq) ? {} : { qq: 'qq' }) }
  if (Object.keys(faults).length > 0) return { body: undefined, faults }
  const body: UserChange = {
    ...(name === '' ? {} : { name }),
    role: role === 'admin' ? 'admin' : 'player',
    qq: wholeNumber(qq) ?? null,
  }
  return { body, faults }
}

function hasGoodQq(text: string): boolean {
  const value = wholeNumber(text)
  return text === '' || (value !== undefined && value >= LEAST_QQ && value <= MOST_QQ)
}

interface ProfileProps {
  readonly fields: Fields
  readonly faults: Faults
  /** Paths that differ from the stored document. */
  readonly changed?: readonly string[]
  onChange(path: (typeof PROFILE_PATHS)[number], text: string): void
}

export function ProfileFields({ fields, faults, changed = [], onChange }: ProfileProps): JSX.Element {
  const words = useWords()
  const { users, settings } = words
  const faultAt = (path: string): string | undefined => {
    const fault = faults[path]
    return fault === undefined ? undefined : settings.faults[fault]
  }
  const classOf = (path: string): string => (changed.includes(path) ? 'changed' : '')
  return (
    <>
      <Field label={users.name} fault={faultAt('name')}>
        {(props) => (
          <input
            {...props}
            class={classOf('name')}
            dir="auto"
            autocomplete="off"
            maxLength={64}
            value={fields.name}
            onInput={(event) => onChange('name', event.currentTarget.value)}
          />
        )}
      </Field>
      <Field label={users.role}>
        {(props) => (
          <select
            {...props}
            class={classOf('role')}
            value={fields.role}
            onChange={(event) => onChange('role', event.currentTarget.value)}
          >
            {ROLES.map((each) => (
              <option key={each} value={each}>
                {users.roles[each]}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Field label={users.qq} about={users.qqAbout} fault={faultAt('qq')}>
        {(props) => (
          <input
            {...props}
            class={classOf('qq')}
            inputMode="numeric"
            autocomplete="off"
            value={fields.qq}
            onInput={(event) => onChange('qq', event.currentTarget.value)}
          />
        )}
      </Field>
    </>
  )
}

interface QuestionProps {
  readonly id: string
  /** Whether to grant or to remove the role. */
  readonly kind: 'give' | 'take'
  act(): void
  onClose(): void
}

export function AdminQuestion({ id, kind, ...rest }: QuestionProps): JSX.Element {
  const { title, about, yes } = useWords().users.adminQuestion[kind]
  return <Confirm title={title(id)} about={about} yes={yes} {...rest} />
}
