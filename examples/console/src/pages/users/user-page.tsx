import type { JSX } from 'preact'
import { useMemo } from 'preact/hooks'
import { hrefOf } from '../../route.ts'
import { useApi } from '../../session.ts'
import { Loaded } from '../../ui/loaded.tsx'
import { useResource } from '../../ui/use-resource.ts'
import { useWords } from '../../words/words.ts'
import { CredentialList } from '../credentials/credential-list.tsx'
import { RefusalList, useRefusalWords } from '../refusals/refusal-list.tsx'
import { Account } from './account.tsx'
import { BalanceForm } from './balance-form.tsx'
import { Holds } from './holds.tsx'
import { lastList } from './last-list.ts'
import { ProfileForm } from './profile-form.tsx'
import { Usage } from './usage.tsx'
import { UserQuotaForm } from './user-quota-form.tsx'

export function UserPage({ id }: { id: string }): JSX.Element {
  const words = useWords()
  const api = useApi()
  const user = useResource(() => api.user(id), [api, id])
  const status = useResource(() => api.quotaStatus(id), [api, id])
  const tokens = useMemo(
    () => ({
      list: () => api.tokens(id),
      issue: (label: string) => api.issueToken(id, label),
      revoke: (tokenId: string) => api.revokeToken(id, tokenId),
    }),
    [api, id],
  )
  return (
    <>
      <p class="back">
        <a href={lastList()}>← {words.users.all}</a>
      </p>
      <h1 class="id">{id}</h1>
      {user.data?.document.disabled === true && (
        <p>
          <span class="tag">{words.users.disabled}</span>
        </p>
      )}
      {user.error?.code === 'not_found' ? (
        <p class="empty">{words.users.notFound(id)}</p>
      ) : (
        <Loaded resource={user} lines={30}>
          {(known) => (
            <div class="cards">
              <div>
                <Usage id={id} status={status} />
                <RefusalsOf id={id} />
                <Holds id={id} onChanged={status.reload} />
                <CredentialList kind="tokens" of={tokens} isNameOptional href={hrefOf('users', id)} />
              </div>
              <div>
                <UserQuotaForm id={id} onStored={status.reload} />
                {/* A new form when the user is enabled or disabled, because that changes the version. */}
                <ProfileForm key={String(known.document.disabled)} id={id} onChanged={user.replace} />
                <BalanceForm
                  user={known.document}
                  onChanged={(balance) => user.replace({ ...known, document: { ...known.document, balance } })}
                  onStale={user.reload}
                />
                <Account user={known} onChanged={user.replace} onStale={user.reload} />
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
  const refusals = useResource(() => api.refusals(id), [api, id])
  return (
    <section aria-labelledby="refusals">
      <h2 id="refusals">{words.ofUser}</h2>
      <Loaded resource={refusals} lines={2}>
        {(list) => <RefusalList of={list} empty={words.notOfUser} />}
      </Loaded>
    </section>
  )
}
