import type { JSX } from 'preact'
import type { User, UserChange, Versioned } from '../../api/api.ts'
import type { Change } from '../../form/changes.tsx'
import { EditorForm } from '../../form/editor-form.tsx'
import { EditorChoice, EditorField, EditorSwitch } from '../../form/fields.tsx'
import { type Faults, type Fields, type Read, wholeNumber } from '../../form/form.ts'
import { useEditor } from '../../form/use-editor.ts'
import { hrefOf } from '../../route.ts'
import { useApi } from '../../session.ts'
import { useWords } from '../../words/words.ts'

interface ProfileProps {
  readonly id: string
  onChanged(user: Versioned<User>): void
}

export function ProfileForm({ id, onChanged }: ProfileProps): JSX.Element {
  const words = useWords()
  const { users } = words
  const api = useApi()
  const editor = useEditor(
    {
      href: hrefOf('users', id),
      form: 'profile',
      load: () => api.user(id),
      async store(body: UserChange, etag) {
        const stored = await api.changeUser(id, body, etag)
        onChanged(stored)
        return stored
      },
      toFields: profileFields,
      read: readProfile,
    },
    [api, id],
  )
  const names: Readonly<Record<string, string>> = {
    name: users.name,
    role: users.role,
    qq: users.qq,
    disabled: users.disabled,
  }
  const textOf = (path: string, text: string): string => {
    if (path === 'role') return users.roles[text === 'admin' ? 'admin' : 'player']
    if (path === 'disabled') return text === 'true' ? '✓' : words.settings.off
    return text === '' ? words.none : text
  }
  const { draft } = editor
  const warningOf = ({ path }: Change): string | undefined => {
    if (path === 'role') return draft.role === 'admin' ? users.becomesAdmin : users.losesRole
    return path === 'disabled' && draft.disabled === 'true' ? users.isRejected : undefined
  }
  return (
    <section aria-labelledby="profile">
      <h2 id="profile">{users.profile}</h2>
      <EditorForm
        editor={editor}
        lines={6}
        texts={{ nameOf: (path) => names[path] ?? path, textOf }}
        warn={(changes) => changes.map((change) => ({ ...change, warning: warningOf(change) }))}
      >
        <EditorField editor={editor} path="name" label={users.name} isText />
        <EditorChoice editor={editor} path="role" label={users.role} options={users.roles} />
        <EditorField editor={editor} path="qq" label={users.qq} about={users.qqAbout} />
        <EditorSwitch editor={editor} path="disabled" label={users.disabled} />
        <p class="quiet small">{users.disabledAbout}</p>
      </EditorForm>
    </section>
  )
}

const LEAST_QQ = 10_000
const MOST_QQ = 999_999_999_999

function profileFields({ name, role, qq, disabled }: User): Fields {
  return { name, role, qq: qq === null ? '' : String(qq), disabled: String(disabled) }
}

function readProfile({ name = '', role, qq = '', disabled }: Fields): Read<UserChange> {
  const account = wholeNumber(qq)
  const isQqGood = qq === '' || (account !== undefined && account >= LEAST_QQ && account <= MOST_QQ)
  const isNameGood = /^[^\p{Cc}\p{Cs}]{1,64}$/u.test(name)
  const faults: Faults = { ...(isNameGood ? {} : { name: 'name' }), ...(isQqGood ? {} : { qq: 'qq' }) }
  if (Object.keys(faults).length > 0) return { body: undefined, faults }
  const body: UserChange = {
    name,
    role: role === 'admin' ? 'admin' : 'player',
    qq: account ?? null,
    disabled: disabled === 'true',
  }
  return { body, faults }
}
