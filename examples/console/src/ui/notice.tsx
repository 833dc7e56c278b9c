import type { ComponentChildren, JSX } from 'preact'
import type { ApiError } from '../api/api-error.ts'
import { useWords } from '../words/words.ts'

/** What went wrong, in the console's words and in the gateway's. */
export function ErrorNotice({ error, retry }: { error: ApiError | undefined; retry?: () => void }): JSX.Element | null {
  const words = useWords()
  if (error === undefined) return null
  const { code, message, details, requestId } = error
  return (
    <div class="notice bad" role="alert">
      {words.errors[code] !== undefined && <p>{words.errors[code]}</p>}
      {message !== code && <p class="quiet">{message}</p>}
      {details.length > 0 && (
        <ul>
          {details.map(({ path, msg }) => (
            <li key={path}>
              <code>{path}</code> {msg}
            </li>
          ))}
        </ul>
      )}
      {requestId !== undefined && <p class="quiet small">{words.requestId(requestId)}</p>}
      {retry !== undefined && (
        <button type="button" onClick={retry}>
          {words.retry}
        </button>
      )}
    </div>
  )
}

/** Confirms an action. Screen readers announce it. */
export function Done({ children }: { children: ComponentChildren }): JSX.Element {
  return (
    <p class="done" role="status">
      {children}
    </p>
  )
}
