import type { JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { goTo, hrefOf, isId } from './route.ts'
import { useApi } from './session.ts'
import { useAction } from './ui/use-action.ts'
import { useWords } from './words/words.ts'

/** The API's limit on a search text. A longer one can only be an id. */
const MAX_SEARCH = 64
const MAX_ID = 128

/** Goes from any page to the user whose id this is or whose id or name begins so, or else to the list of those. */
export function FindUser(): JSX.Element {
  const { users: words } = useWords()
  const api = useApi()
  const { isBusy, run } = useAction()
  const field = useRef<HTMLInputElement>(null)
  useSlash(() => field.current?.focus())
  const find = async (event: Event): Promise<void> => {
    event.preventDefault()
    const text = field.current?.value.trim() ?? ''
    let href = hrefOf('users', undefined, { q: text })
    if (text.length > MAX_SEARCH && isId(text)) href = hrefOf('users', text)
    else if (text !== '') {
      // If it fails, the list says why.
      await run(async () => {
        const { items } = await api.users({ query: text })
        const found = items.find(({ id }) => id === text) ?? (items.length === 1 ? items[0] : undefined)
        if (found !== undefined) href = hrefOf('users', found.id)
      })
    }
    if (field.current !== null) field.current.value = ''
    goTo(href)
  }
  return (
    <search class="find">
      <form aria-busy={isBusy} onSubmit={(event) => void find(event)} autocomplete="off">
        <input
          ref={field}
          type="search"
          aria-label={words.find}
          placeholder={words.find}
          aria-keyshortcuts="/"
          maxLength={MAX_ID}
        />
      </form>
    </search>
  )
}

/** Runs when a person presses `/` and isn't typing. */
function useSlash(act: () => void): void {
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      const isTyping =
        event.target instanceof Element && event.target.closest('input, select, textarea, dialog') !== null
      if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return
      event.preventDefault()
      act()
    }
    addEventListener('keydown', press)
    return () => removeEventListener('keydown', press)
  }, [])
}
