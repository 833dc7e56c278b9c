import type { JSX } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { useWords } from '../../words/words.ts'

/** The credential exists only in this page's memory. It's gone when this element is. */
export function IssuedCredential({ token, onDone }: { token: string; onDone(): void }): JSX.Element {
  const words = useWords()
  const id = useId()
  const field = useRef<HTMLInputElement>(null)
  const [isCopied, setCopied] = useState(false)

  useEffect(() => {
    setCopied(false)
    field.current?.select()
  }, [token])

  const copy = async (): Promise<void> => {
    field.current?.select()
    // Without https a page has no clipboard. The selection lets a person copy by hand.
    await navigator.clipboard?.writeText(token).then(
      () => setCopied(true),
      () => setCopied(false),
    )
  }

  return (
    <div class="notice issued">
      <label for={id}>{words.credentials.issuedLabel}</label>
      <p role="status">{words.credentials.issued}</p>
      <div class="buttons">
        <input id={id} ref={field} class="grow mono" readOnly autocomplete="off" spellcheck={false} value={token} />
        <button type="button" onClick={() => void copy()}>
          {isCopied ? words.copied : words.copy}
        </button>
        <button type="button" onClick={onDone}>
          {words.credentials.done}
        </button>
      </div>
    </div>
  )
}
