import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { Api } from '../api/api.ts'
import { ApiError } from '../api/api-error.ts'
import { hrefOf } from '../route.ts'
import { useApi } from '../session.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Field } from '../ui/field.tsx'
import { ErrorNotice } from '../ui/notice.tsx'
import { useAction } from '../ui/use-action.ts'
import { useWords } from '../words/words.ts'
import { hasGoodName, hasGoodQq, type Profile, ProfileFields } from './profile-fields.tsx'

export function CreateUser({ onClose }: { onClose(): void }): JSX.Element {
  const words = useWords()
  const api = useApi()
  const [id, setId] = useState('')
  const [profile, setProfile] = useState<Profile>({ name: '', role: 'player', qq: '' })
  const [isTaken, setTaken] = useState(false)
  const { isBusy, error, run } = useAction()
  const isGood = isUserId(id) && hasGoodQq(profile) && (profile.name === '' || hasGoodName(profile))

  const submit = async (event: Event): Promise<void> => {
    event.preventDefault()
    const isCreated = await run(async () => {
      if (await isKnown(api, id)) return setTaken(true)
      const { name, role, qq } = profile
      await api.putUser(id, { role, ...(name === '' ? {} : { name }), ...(qq === '' ? {} : { qq: Number(qq) }) })
      location.hash = hrefOf('users', id)
    })
    if (isCreated && location.hash === hrefOf('users', id)) onClose()
  }

  return (
    <Dialog title={words.users.createTitle} onClose={onClose}>
      <form onSubmit={(event) => void submit(event)} autocomplete="off">
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
                setId(event.currentTarget.value)
                setTaken(false)
              }}
            />
          )}
        </Field>
        <ProfileFields profile={profile} isNameOptional onChange={setProfile} />
        <ErrorNotice error={error} />
        <p class="buttons">
          <button type="submit" class="primary" disabled={isBusy || !isGood}>
            {words.users.createSubmit}
          </button>
          <button type="button" onClick={onClose}>
            {words.cancel}
          </button>
        </p>
      </form>
    </Dialog>
  )
}

/** `.` and `..` are ids that no address can name: clients take them for steps in a path. */
function isUserId(text: string): boolean {
  return /^[!-.0-~]{1,128}$/.test(text) && !/^\.{1,2}$/.test(text)
}

function idFault({ users }: ReturnType<typeof useWords>, id: string, isTaken: boolean): string | undefined {
  if (isTaken) return users.idTaken
  return id === '' || isUserId(id) ? undefined : users.idFault
}

/** To create and to change is one request: somebody who is there is not to be changed by it. */
async function isKnown(api: Api, id: string): Promise<boolean> {
  try {
    await api.userQuota(id)
    return true
  } catch (error) {
    if (error instanceof ApiError && error.code === 'not_found') return false
    throw error
  }
}
