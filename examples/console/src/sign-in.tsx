import type { JSX } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { Api } from './api/api.ts'
import type { ApiError } from './api/api-error.ts'
import type { Session } from './session.ts'
import { ErrorNotice } from './ui/notice.tsx'
import { useAction } from './ui/use-action.ts'
import { useWords } from './words/words.ts'

interface SignInProps {
  /** Somebody was signed in, and the gateway does not take the token any more. */
  readonly hasEnded: boolean
  onSignedIn(session: Session): void
  onEnded(): void
}

export function SignIn({ hasEnded, onSignedIn, onEnded }: SignInProps): JSX.Element {
  const words = useWords()
  const [token, setToken] = useState('')
  const { isBusy, error, run } = useAction()
  const isIn = useRef(false)

  const submit = async (event: Event): Promise<void> => {
    event.preventDefault()
    const api = new Api(token.trim(), () => {
      if (isIn.current) onEnded()
    })
    await run(async () => {
      const policy = await api.policy()
      isIn.current = true
      setToken('')
      onSignedIn({ api, policy })
    })
  }

  return (
    <main id="content" class="sign-in" tabIndex={-1}>
      <h1>{words.signIn.title}</h1>
      {hasEnded && error === undefined && (
        <p class="notice bad" role="alert">
          {words.signIn.ended}
        </p>
      )}
      <form onSubmit={(event) => void submit(event)} autocomplete="off">
        <label for="token">{words.signIn.token}</label>
        <input
          id="token"
          type="password"
          autocomplete="off"
          spellcheck={false}
          required
          aria-describedby="where kept"
          value={token}
          onInput={(event) => setToken(event.currentTarget.value)}
        />
        <button type="submit" class="primary" disabled={isBusy || token.trim() === ''}>
          {isBusy ? words.signIn.busy : words.signIn.submit}
        </button>
      </form>
      <Refused error={error} />
      <p id="where">{words.signIn.where}</p>
      <p id="kept">{words.signIn.kept}</p>
      <p>{words.signIn.first}</p>
      <pre>npm run gateway -- users create NAME --admin</pre>
    </main>
  )
}

function Refused({ error }: { error: ApiError | undefined }): JSX.Element | null {
  const words = useWords()
  if (error === undefined) return null
  if (error.status !== 401 && error.status !== 403) return <ErrorNotice error={error} />
  return (
    <p class="notice bad" role="alert">
      {error.status === 401 ? words.signIn.wrong : words.signIn.notAdmin}
    </p>
  )
}
