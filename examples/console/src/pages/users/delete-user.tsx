import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { User, Versioned } from '../../api/api.ts'
import { ApiError } from '../../api/api-error.ts'
import { goTo, hrefOf } from '../../route.ts'
import { useApi, useDrafts } from '../../session.ts'
import { Confirm } from '../../ui/confirm.tsx'
import { useWords } from '../../words/words.ts'
import { lastList } from './last-list.ts'

interface DeleteProps {
  readonly user: Versioned<User>
  /** The shown user is out of date. */
  onStale(): void
}

export function DeleteUser({ user: { etag, document }, onStale }: DeleteProps): JSX.Element {
  const { users: words } = useWords()
  const api = useApi()
  const drafts = useDrafts()
  const [isAsking, setAsking] = useState(false)
  const { id } = document
  const remove = async (): Promise<void> => {
    await api.removeUser(id, etag).catch((fault: unknown) => {
      if (fault instanceof ApiError && fault.code === 'precondition_failed') onStale()
      throw fault
    })
    drafts.forget(hrefOf('users', id))
    goTo(lastList(), { isReplacing: true })
  }
  return (
    <p class="buttons">
      <button type="button" class="danger" onClick={() => setAsking(true)}>
        {words.remove}
      </button>
      {isAsking && (
        <Confirm
          title={words.removeTitle(id)}
          about={words.removeAbout}
          yes={words.removeSubmit}
          act={remove}
          onClose={() => setAsking(false)}
        />
      )}
    </p>
  )
}
