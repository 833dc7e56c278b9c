import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { checkToken } from './api/api.ts'
import { ApiError } from './api/api-error.ts'
import { bearerToken } from './bearer-token.ts'
import { Dialog } from './ui/dialog.tsx'
import { useTitle } from './ui/hooks.ts'
import { ErrorNotice } from './ui/notice.tsx'
import { useAction } from './ui/use-action.ts'
import { useWords } from './words/words.ts'

interface SignInProps {
  onSignedIn(token: string): void
}

export function SignIn({ onSignedIn }: SignInProps): JSX.Element {
  const words = useWords()
  useTitle(words.signIn.title)
  return (
    <main id="content" class="sign-in" tabIndex={-1}>
      <h1>{words.signIn.title}</h1>
      <TokenForm onSignedIn={onSignedIn} />
      <p id="where">{words.signIn.where}</p>
      <p id="kept">{words.signIn.kept}</p>
      <p>{words.signIn.first}</p>
      <pre>
        npm run gateway -- users create NAME <span class="no-wrap">--admin</span>
      </pre>
    </main>
  )
}

/** Signs in again in a dialog. The page behind it keeps its input. */
export function SignInAgain({ onSignedIn }: SignInProps): JSX.Element {
  const words = useWords()
  return (
    <Dialog title={words.signIn.title} isRequired onClose={() => undefined}>
      <div class="sign-in again">
        <p class="notice bad" role="alert">
          {words.signIn.ended}
        </p>
        <TokenForm onSignedIn={onSignedIn} />
        <p id="where" class="quiet small">
          {words.signIn.where}
        </p>
        <p id="kept" class="buttons">
          <button type="button" onClick={() => location.reload()}>
            {words.signOut}
          </button>
          <span class="quiet small">{words.signIn.endedKept}</span>
        </p>
      </div>
    </Dialog>
  )
}

function TokenForm({ onSignedIn }: SignInProps): JSX.Element {
  const words = useWords()
  const [text, setText] = useState('')
  const { isBusy, error, run } = useAction()

  const submit = async (event: Event): Promise<void> => {
    event.preventDefault()
    await run(async () => {
      const token = bearerToken(text)
      if (token === undefined) throw new ApiError('unauthorized', 401)
      await checkToken(token)
      setText('')
      onSignedIn(token)
    })
  }

  return (
    <>
      <form onSubmit={(event) => void submit(event)} autocomplete="off">
        <label for="token">{words.signIn.token}</label>
        <input
          id="token"
          type="password"
          autocomplete="off"
          spellcheck={false}
          required
          aria-describedby="where kept"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <button type="submit" class="primary" disabled={isBusy || text.trim() === ''}>
          {isBusy ? words.signIn.busy : words.signIn.submit}
        </button>
      </form>
      <Refused error={error} />
    </>
  )
}

function Refused({ error }: { error: ApiError | undefined }): JSX.Element | null {
  const words = useWords()
  if (error === undefined) return null
  if (error.status !== 401 && error.status !== 403) return <ErrorNotice error={error} />
  const { wrong, disabled, notAdmin } = words.signIn
  const why = error.code === 'user_disabled' ? disabled : notAdmin
  return (
    <p class="notice bad" role="alert">
      {error.status === 401 ? wrong : why}
    </p>
  )
}
