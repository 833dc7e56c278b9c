import type { JSX } from 'preact'
import { useMemo } from 'preact/hooks'
import { CredentialList } from '../credentials/credential-list.tsx'
import { hrefOf } from '../route.ts'
import { useApi, usePolicy } from '../session.ts'
import { ownLayers } from '../settings/axes.ts'
import { Loaded } from '../ui/loaded.tsx'
import { useResource } from '../ui/use-resource.ts'
import { useWords } from '../words/words.ts'
import { BalanceForm } from './balance-form.tsx'
import { Holds } from './holds.tsx'
import { ProfileForm } from './profile-form.tsx'
import { Usage } from './usage.tsx'
import { UserQuotaForm } from './user-quota-form.tsx'

/** Everything about one user. */
export function UserPage({ id }: { id: string }): JSX.Element {
  const words = useWords()
  const api = useApi()
  const layers = ownLayers(usePolicy())
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
        <a href={hrefOf('users')}>← {words.users.all}</a>
      </p>
      <h1 class="id">{id}</h1>
      <Loaded resource={user} lines={30}>
        {(known) => (
          <div class="cards">
            <div>
              <Usage id={id} status={status} />
              <Holds id={id} onReleased={status.reload} />
              <CredentialList kind="tokens" of={tokens} isNameOptional />
            </div>
            <div>
              {layers.map((layer) => (
                <UserQuotaForm key={layer.name} id={id} layer={layer} onStored={status.reload} />
              ))}
              <ProfileForm user={known} onChanged={user.replace} />
              <BalanceForm user={known} onChanged={(balance) => user.replace({ ...known, balance })} />
            </div>
          </div>
        )}
      </Loaded>
    </>
  )
}
