import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { User, UserChange, Versioned } from '../../api/api.ts'
import { EditorForm } from '../../form/editor-form.tsx'
import { useEditor } from '../../form/use-editor.ts'
import { hrefOf } from '../../route.ts'
import { useApi } from '../../session.ts'
import type { Words } from '../../words/en.ts'
import { useWords } from '../../words/words.ts'
import { AdminQuestion } from './admin-question.tsx'
import { ProfileFields, profileFields, readProfile } from './profile-fields.tsx'

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
