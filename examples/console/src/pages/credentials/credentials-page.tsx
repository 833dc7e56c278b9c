import type { JSX } from 'preact'
import { useMemo } from 'preact/hooks'
import type { CredentialKind } from '../../api/api.ts'
import { hrefOf } from '../../route.ts'
import { useApi } from '../../session.ts'
import { useWords } from '../../words/words.ts'
import { CredentialList } from './credential-list.tsx'

export function CredentialsPage(): JSX.Element {
  const words = useWords()
  return (
    <>
      <h1>{words.credentials.title}</h1>
      <p class="quiet">{words.credentials.about}</p>
      <div class="cards">
        <OfService kind="bots" />
        <OfService kind="chart-keys" />
      </div>
    </>
  )
}

function OfService({ kind }: { kind: CredentialKind }): JSX.Element {
  const api = useApi()
  const credentials = useMemo(() => api.credentialsOf(kind), [api, kind])
  return <CredentialList kind={kind} of={credentials} href={hrefOf('credentials')} />
}
