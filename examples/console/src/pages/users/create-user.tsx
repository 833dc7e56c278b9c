import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { ApiError } from '../../api/api-error.ts'
import type { Fields } from '../../form/form.ts'
import { goTo, hrefOf } from '../../route.ts'
import { useApi } from '../../session.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { ErrorNotice } from '../../ui/notice.tsx'
import { useAction } from '../../ui/use-action.ts'
import { useDraft } from '../../ui/use-draft.ts'
import { useWords } from '../../words/words.ts'
import { AdminQuestion, NEW_PROFILE, ProfileFields, readProfile } from './profile-form.tsx'

/** `undefined` while the form is closed. */
type NewUser = Fields | undefined

const EMPTY: Fields = { ...NEW_PROFILE, id: '' }

/** The input for a new user, kept until it's created or discarded. */
export function useNewUser(): readonly [NewUser, (next: NewUser) => void] {
  return useDraft<NewUser>(hrefOf('users'), 'new user', undefined, (fields) => {
    return fields !== undefined && Object.entries(fields).some(([path, text]) => text !== EMPTY[path])
  })
}

interface CreateProps {
  readonly fields: Fields
  onChange(fields: NewUser): void
}

export function emptyUser(): Fields {
  return EMPTY
}

export function CreateUser({ fields, onChange }: CreateProps): JSX.Element {
  const words = useWords()
  const api = useApi()
  const [isTaken, setTaken] = useState(false)
  const [isAsking, setAsking] = useState(false)
  const { isBusy, error, run } = useAction()
  const { id = '' } = fields
  const { body, faults } = readProfile(fields, true)
  const change = (path: string, text: string): void => onChange({ ...fields, [path]: text })

  const create = async (): Promise<void> => {
    await run(async () => {
      try {
        await api.createUser(id, body ?? {})
      } catch (error) {
        if (!(error instanceof ApiError) || error.code !== 'precondition_failed') throw error
        setTaken(true)
        return
      }
      onChange(undefined)
      goTo(hrefOf('users', id))
    })
  }

  return (
    <Dialog title={words.users.createTitle} onClose={() => onChange(undefined)}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (fields.role === 'admin') setAsking(true)
          else void create()
        }}
        autocomplete="off"
      >
        <Field label={words.users.id} about={words.users.idAbout} fault={idFault(words, id, isTaken)}>
          {(props) => (
            <input
              {...props}
              autocomplete="off"
              autocapitalize="none"
              spellcheck={false}
              maxLength={128}
              value={id}
              onInput={(event) => {
                change('id', event.currentTarget.value)
                setTaken(false)
              }}
            />
          )}
        </Field>
        <ProfileFields fields={fields} faults={faults} onChange={change} />
        <ErrorNotice error={error} />
        <p class="buttons">
          <button type="submit" class="primary" disabled={isBusy || body === undefined || !isUserId(id)}>
            {words.users.createSubmit}
          </button>
          <button type="button" onClick={() => onChange(undefined)}>
            {words.cancel}
          </button>
        </p>
      </form>
      {isAsking && <AdminQuestion id={id} kind="give" act={() => void create()} onClose={() => setAsking(false)} />}
    </Dialog>
  )
}

/** Clients take `.` and `..` for steps in a path, so no address can name such ids. */
function isUserId(text: string): boolean {
  return /^[!-.0-~]{1,128}$/.test(text) && !/^\.{1,2}$/.test(text)
}

function idFault({ users }: ReturnType<typeof useWords>, id: string, isTaken: boolean): string | undefined {
  if (isTaken) return users.idTaken
  return id === '' || isUserId(id) ? undefined : users.idFault
}
