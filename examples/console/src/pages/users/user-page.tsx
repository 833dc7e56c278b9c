import type { JSX } from 'preact'
import { useMemo } from 'preact/hooks'
import { hrefOf } from '../../route.ts'
import { useApi } from '../../session.ts'
import { Loaded } from '../../ui/loaded.tsx'
import { Text } from '../../ui/text.tsx'
import { useResource } from '../../ui/use-resource.ts'
import { useWords } from '../../words/words.ts'
import { CredentialList } from '../credentials/credential-list.tsx'
import { RefusalList, useRefusalWords } from '../refusals/refusal-list.tsx'
import { CreditsForm } from './credits-form.tsx'
import { DeleteUser } from './delete-user.tsx'
import { Holds } from './holds.tsx'
import { lastList } from './last-list.ts'
import { ProfileForm } from './profile-form.tsx'
import { Usage } from './usage.tsx'
import { UserQuotaForm } from './user-quota-form.tsx'

const REFRESH_MS = 5_000

export function UserPage({ id }: { id: string }): JSX.Element {
  const { users: words } = useWords()
  const api = useApi()
  const user = useResource(() => api.user(id), [api, id])
  const status = useResource(() => api.quotaStatus(id), [api, id], REFRESH_MS)
  const tokens = useMemo(() => api.tokensOf(id), [api, id])
  const name = user.data?.document.name
  return (
    <>
      <p class="back">
        <a href={lastList()}>← {words.all}</a>
      </p>
      <h1 class="id">{id}</h1>
      <p class="quiet">
        {name !== undefined && name !== id && <Text>{name}</Text>}{' '}
        {user.data?.document.disabled === true && <span class="tag">{words.disabled}</span>}
      </p>
      {user.error?.code === 'not_found' ? (
        <p class="empty">{words.notFound(id)}</p>
      ) : (
        <Loaded resource={user} lines={30}>
          {(known) => (
            <div class="cards">
              <div>
                <Usage id={id} status={status} />
                <RefusalsOf id={id} />
                <Holds id={id} onChanged={status.reload} />
              </div>
              <div>
                <UserQuotaForm id={id} onStored={status.reload} />
                <CredentialList kind="tokens" of={tokens} isNameOptional href={hrefOf('users', id)} />
                <ProfileForm id={id} onChanged={user.replace} />
                <CreditsForm id={id} />
                <DeleteUser user={known} onStale={user.reload} />
              </div>
            </div>
          )}
        </Loaded>
      )}
    </>
  )
}

/** Why the user was refused. */
function RefusalsOf({ id }: { id: string }): JSX.Element {
  const words = useRefusalWords()
  const api = useApi()
  const refusals = useResource(() => api.refusals({ userId: id }), [api, id])
  return (
    <section aria-labelledby="refusals">
      <h2 id="refusals">{words.ofUser}</h2>
      <Loaded resource={refusals} lines={2}>
        {(list) => <RefusalList of={list} empty={words.notOfUser} />}
      </Loaded>
    </section>
  )
}
